// Generated from operations.graphql and the schema by `npm run docs`.
import type { TypedDocument } from "../typed-document";
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> =
  T | { [P in keyof T]?: P extends " $fragmentName" | "__typename" ? T[P] : never };
/** Channel of a conversation. */
export type Channel =
  /** SMS. */
  | "SMS"
  /** Text chats. */
  | "TEXT"
  /** Telephone calls and calls from web pages. */
  | "VOICE";

/** Author of a message. */
export type MessageRole =
  /** The assistant. A posted message of this role is only stored. */
  | "ASSISTANT"
  /** The system. A posted message of this role is only stored. */
  | "SYSTEM"
  /** A function, with its response. A posted message of this role is only stored. */
  | "TOOL"
  /** The end user. The assistant answers a posted message of this role. */
  | "USER";

/** New message of a live chat. */
export type PostMessageInput = {
  /** Id of the chat. */
  readonly aiChatId: string;
  /** Channel to store with the message. It has no effect: the chat's channel applies. */
  readonly channel: Channel;
  /** Text, at most 1 MiB. */
  readonly content?: string | null | undefined;
  /** Metadata to store with the message. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Author of the message. */
  readonly role: MessageRole;
};

/** New chat with an assistant, a workflow or a deployment: exactly one of them. */
export type StartChatInput = {
  /** Id of the assistant. */
  readonly assistantId?: string | null | undefined;
  /** Number of the version of the assistant that answers, from 1; needs assistantId. Default: the deployment's, else the current one. */
  readonly assistantVersion?: number | null | undefined;
  /** Channel of the conversation. Default: TEXT. */
  readonly channel?: Channel | null | undefined;
  /** Id of the deployment to use. Its type must support chats on this channel. */
  readonly deploymentId?: string | null | undefined;
  /** Whether the assistant's draft answers, as it is now; needs assistantId. Default: false. */
  readonly draft?: boolean | null | undefined;
  /** Metadata to store with the chat; its log returns it as customerMetadata. */
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** Your id for the end user, by which the assistant remembers them; 1 to 29 characters. */
  readonly uniqueId?: string | null | undefined;
  /** Signature of uniqueId: its hexadecimal HMAC-SHA-256 with the organization's identity secret as the key. */
  readonly uniqueIdSignature?: string | null | undefined;
  /** Your id or name for the end user, 1 to 255 characters; it becomes the log's label. */
  readonly userId?: string | null | undefined;
  /** Values of variables, by name; they take precedence over the assistant's. Names consist of letters, digits, _ and ., and begin with a letter or _. */
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  /** Id of the workflow to run. */
  readonly workflowId?: string | null | undefined;
};

export type Chat = {
  readonly id: string;
  readonly status: string;
  readonly channel: Channel;
  readonly greeting: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly endedReason: string | null;
};

export type Message = {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly sequence: number;
  readonly createdAt: string;
  readonly toolCallId: string | null;
  readonly toolCalls: ReadonlyArray<Readonly<Record<string, unknown>>> | null;
};

export type StartChatVariables = Exact<{
  input: StartChatInput;
}>;

export type StartChat = { readonly result: Chat | null };

export type PostMessageVariables = Exact<{
  input: PostMessageInput;
}>;

export type PostMessage = { readonly result: ({ readonly reply: Message | null } & Message) | null };

export type EndChatVariables = Exact<{
  id: string;
}>;

export type EndChat = { readonly result: Chat | null };

export type FollowChatVariables = Exact<{
  chatId: string;
  after?: string | null | undefined;
}>;

export type FollowChat = {
  readonly result: {
    readonly id: string;
    readonly name: string;
    readonly status: string;
    readonly text: string | null;
    readonly message: Message | null;
  };
};

export const START_CHAT =
  "mutation StartChat($input:StartChatInput!){result:startChat(input:$input){id status channel greeting startedAt endedAt endedReason}}" as TypedDocument<
    StartChat,
    StartChatVariables
  >;

export const POST_MESSAGE =
  "mutation PostMessage($input:PostMessageInput!){result:postMessage(input:$input withReply:true){id role content metadata sequence createdAt toolCallId toolCalls reply{id role content metadata sequence createdAt toolCallId toolCalls}}}" as TypedDocument<
    PostMessage,
    PostMessageVariables
  >;

export const END_CHAT =
  "mutation EndChat($id:ID!){result:endChat(id:$id){id status channel greeting startedAt endedAt endedReason}}" as TypedDocument<
    EndChat,
    EndChatVariables
  >;

export const FOLLOW_CHAT =
  "subscription FollowChat($chatId:ID!$after:ID){result:chatEvents(chatId:$chatId after:$after){id name status text message{id role content metadata sequence createdAt toolCallId toolCalls}}}" as TypedDocument<
    FollowChat,
    FollowChatVariables
  >;
