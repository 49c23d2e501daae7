import type { RunningApp } from "./app";
import { newChat } from "./factories";
import { until } from "./until";
import { stubModel, type Reply } from "./stub-model";

/** An answer to a message. */
export interface Answer {
  readonly role: string;
  readonly content: string;
  readonly metadata: Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- its content is under test
  readonly sequence: number;
}

const KINDS: Readonly<Record<string, string>> = { TEXT: "chat", VOICE: "voice", SMS: "sms" };
const SET = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`;
const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { role content metadata sequence } }`;
const RAG = `mutation ($id: ID!, $channel: Channel!, $input: UpdateRagSettingsInput!) {
  updateRagSettings(assistantId: $id, channel: $channel, input: $input) { isRagEnabled } }`;

/** Started turns of a chat, and waiting turns of any chat. */
const TURNS = `
  select from begun_jobs where payload ->> 'chatId' = $1
  union all select from graphile_worker.jobs where task_identifier = 'chat.turn'`;

/** Setup of a chat; every field is optional. */
export interface Setting {
  /** Fields of the channel's configuration. */
  readonly configuration?: object;
  readonly rag?: object;
  /** Input of `startChat`. */
  readonly start?: { readonly channel?: string } & Record<string, unknown>;
}

/** Starts a chat whose model is a stub with these replies. */
export async function talk(
  { api, database }: RunningApp,
  replies: readonly Reply[],
  { configuration, rag, start }: Setting = {},
) {
  const model = await stubModel(...replies);
  await api.gql(SET, { input: { provider: "OPENAI", apiKey: "sk-test-1234", baseUrl: model.url } });
  const body = { name: "Ada", variables: { city: "Rome" } };
  const { id: assistantId } = (await api.post("/rest/v1/assistants", body, 200)) as { id: string };
  const channel = start?.channel ?? "TEXT";
  const path = `/rest/v1/assistants/${assistantId}/${KINDS[channel]}`;
  await api.patch(path, { initialMessage: "", ...configuration }, 200);
  if (rag) await api.gql(RAG, { id: assistantId, channel, input: { isRagEnabled: true, ...rag } });
  const chatId = await newChat(api, assistantId, start);
  const say = async (content: string): Promise<Answer> => {
    const input = { aiChatId: chatId, role: "USER", channel, content, metadata: {} };
    return (await api.gql(POST, { input })).postMessage as Answer;
  };
  const log = () => api.get(`/rest/v1/assistants/${assistantId}/log/${chatId}`, 200);
  /** The system prompt of the nth request to the model, from 1. */
  const told = (number: number) => String(model.asked[number - 1]!.messages[0]!.content);
  /** Waits until no turn is left, because a later turn would ask the model of the next test. */
  const answered = () => until(async () => (await database.query(TURNS, [chatId])).length === 0);
  return { model, assistantId, chatId, say, answered, log, told };
}
