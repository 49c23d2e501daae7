import { group } from "../route";

const MESSAGE = "id aiChatId: chatId role channel content metadata createdAt";
const CHAT =
  "id assistantId channel status label phoneNumber variables metadata startedAt endedAt endedReason";

export const chats = group("Chats", "keyOrBearer", [
  {
    id: "startChat",
    post: "/rest/v1/ai-chats",
    extension: true,
    success: 201,
    summary: "Start a text chat",
    omit: ["channel"],
    components: { Chat: "StartedChat" },
    document: `mutation StartChat($input: StartChatInput!) { result: startChat(input: $input) { id greeting } }`,
  },
  {
    id: "postMessage",
    post: "/rest/v1/ai-chats/messages",
    success: 201,
    summary: "Add a message to a live chat",
    components: { Message: "PostedMessage" },
    document: `mutation PostMessage($input: PostMessageInput!, $wait: Boolean) {
      result: postMessage(input: $input, withReply: $wait) { ${MESSAGE} reply { ${MESSAGE} } } }`,
  },
  {
    id: "getChat",
    get: "/rest/v1/ai-chats/:id",
    extension: true,
    summary: "Get a chat, live or ended, with its last messages",
    document: `query Chat($id: ID!, $last: Int, $before: ID) {
      result: chat(id: $id) { ${CHAT} messages(last: $last, before: $before) { ${MESSAGE} } } }`,
  },
  {
    id: "endChat",
    post: "/rest/v1/ai-chats/:id/end",
    extension: true,
    summary: "End a chat",
    components: { Chat: "EndedChat" },
    document: `mutation EndChat($id: ID!) { result: endChat(id: $id) { ${CHAT} } }`,
  },
]);
