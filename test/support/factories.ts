import type { Api } from "./api";

/** A well-formed id that no record has. */
export const UNKNOWN_ID = "019b0000-0000-7000-8000-000000000000";

/** Creates an assistant. @returns its id */
export async function newAssistant(api: Api, body: object = { name: "Ada" }): Promise<string> {
  const { id } = (await api.post("/rest/v1/assistants", body, 200)) as { id: string };
  return id;
}

const WITHOUT_GREETING = `mutation ($id: ID!) {
  updateChatConfiguration(assistantId: $id, input: { initialMessage: "" }) { prompt }
  updateSmsConfiguration(assistantId: $id, input: { initialMessage: "" }) { prompt }
  updateVoiceConfiguration(assistantId: $id, input: { initialMessage: "" }) { prompt } }`;

/** Creates an assistant without a greeting, so that its chats begin without a message. @returns its id */
export async function quietAssistant(api: Api, body?: object): Promise<string> {
  const id = await newAssistant(api, body);
  await api.gql(WITHOUT_GREETING, { id });
  return id;
}

/** Starts a chat, by default on the channel TEXT. @returns its id */
export async function newChat(api: Api, assistantId: string, input: object = {}): Promise<string> {
  const document = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  const { startChat } = (await api.gql(document, { input: { assistantId, ...input } })) as {
    startChat: { id: string };
  };
  return startChat.id;
}

/** The body of a message. The assistant answers messages with the role USER; all others are only stored. */
export const said = (aiChatId: string, content: string, role = "ASSISTANT") => ({
  aiChatId,
  role,
  channel: "TEXT",
  content,
  metadata: {},
});

/** Posts a message. @returns its id */
export async function say(api: Api, chatId: string, content: string, role?: string): Promise<string> {
  const body = said(chatId, content, role);
  const { id } = (await api.post("/rest/v1/ai-chats/messages", body, 201)) as { id: string };
  return id;
}

export async function endChat(api: Api, id: string, reason?: string): Promise<void> {
  await api.gql("mutation ($id: ID!, $reason: String) { endChat(id: $id, reason: $reason) { id } }", {
    id,
    ...(reason !== undefined && { reason }),
  });
}
