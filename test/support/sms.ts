import type { RunningApp } from "./app";
import type { Answer } from "./api";
import { newAccount, sign, smsOf, type Account, type Params } from "./twilio";

export const INTERCEPT = "/webhooks/twilio/intercept-sms";

export interface ConnectedNumber extends Account {
  readonly id: string;
}

const CONNECT = `mutation ($input: ConnectTelephonyInput!) { connectTelephony(input: $input) { id } }`;

/** Connects a new number, which these assistants answer. */
export async function connect(
  running: Pick<RunningApp, "api">,
  assistantIds: readonly string[],
  more: object = {},
): Promise<ConnectedNumber> {
  const account = newAccount();
  const input = { ...account, assistantIds, ...more };
  const { connectTelephony } = (await running.api.gql(CONNECT, { input })) as {
    connectTelephony: { id: string };
  };
  return { ...account, id: connectTelephony.id };
}

let people = 0;
/** The number of a person who has not texted before. */
export const newPerson = (): string => `+4178${3_000_000 + people++}`;

/** Sends a request as the provider does. @param at the service's base URL for the provider */
export const bring = (
  { api, url }: Pick<RunningApp, "api" | "url">,
  { authToken }: Account,
  params: Params,
  { at = url, path = INTERCEPT, signature = sign(authToken, at + path, params) } = {},
): Promise<Answer> =>
  api.as({}).request("POST", path, new URLSearchParams(params).toString(), {
    "Content-Type": "application/x-www-form-urlencoded",
    "X-Twilio-Signature": signature,
  });

/** The texts in a TwiML document. */
export const textsIn = (xml: string): string[] =>
  [...xml.matchAll(/<Message>([^<]*)<\/Message>/g)].map(([, text]) =>
    text!.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
  );

/** Sends a person's text to a number. @returns the immediate answers */
export async function text(
  running: Pick<RunningApp, "api" | "url">,
  account: Account,
  from: string,
  words: string,
  more: Params = {},
): Promise<string[]> {
  const answer = await bring(running, account, smsOf(account, from, words, more));
  if (answer.status !== 200) throw new Error(`expected 200, got ${answer.status}: ${answer.text}`);
  return textsIn(answer.text);
}

const CHATS = `query ($id: ID!) { assistant(id: $id) { chats(first: 40) { nodes {
  id channel status endedReason phoneNumber messages(last: 60) { role channel content metadata } } } } }`;

export interface ShownChat {
  readonly id: string;
  readonly channel: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly phoneNumber: string | null;
  readonly messages: readonly {
    readonly role: string;
    readonly channel: string;
    readonly content: string;
    readonly metadata: Readonly<Record<string, unknown>>;
  }[];
}

/** The chats with a person, newest first. */
export async function chatsWith(
  { api }: Pick<RunningApp, "api">,
  assistantId: string,
  phoneNumber: string,
): Promise<ShownChat[]> {
  const { assistant } = (await api.gql(CHATS, { id: assistantId })) as {
    assistant: { chats: { nodes: ShownChat[] } };
  };
  return assistant.chats.nodes.filter((chat) => chat.phoneNumber === phoneNumber);
}

/** The messages of a chat, as `ROLE: text`. */
export const wordsOf = ({ messages }: ShownChat): string[] =>
  messages.map(({ role, content }) => `${role}: ${content}`);

const SET = "mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }";

/** Makes the model at this address answer for the organization's assistants. */
export const answeredBy = (
  { api }: Pick<RunningApp, "api">,
  model: { readonly url: string },
): Promise<unknown> => api.gql(SET, { input: { provider: "OPENAI", apiKey: "sk-stub", baseUrl: model.url } });
