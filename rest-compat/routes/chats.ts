import { group } from "../route";

export const chats = group("Chat messages", "keyOrBearer", [
  {
    id: "postMessage",
    post: "/rest/v1/ai-chats/messages",
    success: 201,
    summary: "Add a message to a live chat",
    document: `mutation PostMessage($input: PostMessageInput!) {
      result: postMessage(input: $input) { id aiChatId: chatId role channel content metadata createdAt } }`,
  },
]);
