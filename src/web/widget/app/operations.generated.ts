// Generated from operations.graphql and the schema by `npm run docs`.
import type { TypedDocument } from "../../typed-document";
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

/** Mode of the widget. */
export type ThemeMode =
  /** Text chats only. */
  | "CHAT_ONLY"
  /** Voice and text chats. */
  | "VOICE_AND_CHAT"
  /** Voice only. */
  | "VOICE_ONLY";

/** New call of a visitor through the voice engine. */
export type WidgetCallInput = {
  /** Metadata to store with the chat; its log returns it as customerMetadata. */
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** Values of variables, by name; they take precedence over the assistant's. Names consist of letters, digits, _ and ., and begin with a letter or _. */
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
};

/** Channel of a visitor's chat. */
export type WidgetChannel =
  /** Text chat. */
  | "TEXT"
  /** Voice, by the browser's own speech recognition and synthesis. */
  | "VOICE";

/** New chat of a visitor. */
export type WidgetChatInput = {
  /** Channel. VOICE uses the browser's own speech and the assistant's voice configuration. Default: TEXT. */
  readonly channel?: WidgetChannel | null | undefined;
  /** Metadata to store with the chat; its log returns it as customerMetadata. */
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** Values of variables, by name; they take precedence over the assistant's. Names consist of letters, digits, _ and ., and begin with a letter or _. */
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
};

/** Changes to the data of a visitor's chat. Omitted fields stay unchanged. */
export type WidgetChatUpdate = {
  /** Id of the visitor's chat. */
  readonly chatId: string;
  /** Metadata to store with the chat; its log returns it as customerMetadata. Replaces the previous metadata. */
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** Values of variables, by name; they take precedence over the assistant's. Names consist of letters, digits, _ and ., and begin with a letter or _. Replaces all previous values except those that a workflow has set. */
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
};

/** New message of a visitor. */
export type WidgetMessageInput = {
  /** Id of the visitor's chat. */
  readonly chatId: string;
  /** The page's own id for the message, 1 to 64 characters. A message sent again with the same id, for example after a network failure, is stored only once and gets the same response. */
  readonly clientId?: string | null | undefined;
  /** Text, 1 to 16,000 characters. */
  readonly content: string;
};

/** Visitor's session to start or renew, with either an assistant or a deployment. */
export type WidgetSessionInput = {
  /** Id of the assistant. */
  readonly assistantId?: string | null | undefined;
  /** Id of the deployment to use. Its type must be TEXT_IFRAME, TEXT_BUBBLE, VOICE_BUBBLE or VOICE_IFRAME. */
  readonly deploymentId?: string | null | undefined;
  /** Your id for the visitor, by which the assistant remembers them; 1 to 29 characters. */
  readonly uniqueId?: string | null | undefined;
  /** Signature of uniqueId: its hexadecimal HMAC-SHA-256 with the organization's identity secret as the key. Without it, chats of other browsers are not shown. */
  readonly uniqueIdSignature?: string | null | undefined;
  /** Visitor token of an earlier session in the same browser, to show its chats again. A token that is not valid for this assistant is ignored and gives a new visitor. */
  readonly visitorToken?: string | null | undefined;
};

export type SessionData = {
  readonly token: string;
  readonly expiresAt: string;
  readonly visitorToken: string;
  readonly historyAvailable: boolean;
};

export type Widget = {
  readonly assistantId: string;
  readonly name: string;
  readonly mode: ThemeMode;
  readonly theme: Readonly<Record<string, unknown>>;
  readonly greeting: string | null;
  readonly textEnabled: boolean;
  readonly voiceEnabled: boolean;
  readonly engineVoice: boolean;
};

export type Message = {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: string;
  readonly createdAt: string;
  readonly quickReplies: ReadonlyArray<string>;
  readonly failed: boolean;
  readonly local: boolean;
  readonly clientId: string | null;
};

export type ChatSummary = {
  readonly id: string;
  readonly channel: Channel;
  readonly status: string;
  readonly label: string;
  readonly startedAt: string;
};

export type ChatEvent = {
  readonly id: string;
  readonly name: string;
  readonly text: string | null;
  readonly status: string;
  readonly activity: string | null;
  readonly message: Message | null;
};

export type StartSessionVariables = Exact<{
  input: WidgetSessionInput;
}>;

export type StartSession = { readonly result: SessionData | null };

export type ReadHoldVariables = Exact<{ [key: string]: never }>;

export type ReadHold = { readonly result: { readonly held: boolean } };

export type ReadWidgetVariables = Exact<{
  variables?: Readonly<Record<string, unknown>> | null | undefined;
}>;

export type ReadWidget = { readonly result: Widget };

export type StartChatVariables = Exact<{
  input: WidgetChatInput;
}>;

export type StartChat = {
  readonly result: ({ readonly messages: ReadonlyArray<Message> } & ChatSummary) | null;
};

export type ReadChatVariables = Exact<{
  id: string;
  after?: string | null | undefined;
}>;

export type ReadChat = {
  readonly result: ({ readonly messages: ReadonlyArray<Message> } & ChatSummary) | null;
};

export type ReadChatsVariables = Exact<{ [key: string]: never }>;

export type ReadChats = { readonly result: ReadonlyArray<ChatSummary> };

export type PostMessageVariables = Exact<{
  input: WidgetMessageInput;
}>;

export type PostMessage = { readonly result: Message | null };

export type UpdateChatVariables = Exact<{
  input: WidgetChatUpdate;
}>;

export type UpdateChat = { readonly result: { readonly id: string } | null };

export type EndChatVariables = Exact<{
  id: string;
}>;

export type EndChat = { readonly result: { readonly id: string } | null };

export type StartCallVariables = Exact<{
  input: WidgetCallInput;
}>;

export type StartCall = { readonly result: { readonly id: string; readonly webCallUrl: string } | null };

export type WatchChatVariables = Exact<{
  chatId: string;
  after?: string | null | undefined;
}>;

export type WatchChat = { readonly result: ChatEvent };

export const START_SESSION =
  "mutation StartSession($input:WidgetSessionInput!){result:startWidgetSession(input:$input){token expiresAt visitorToken historyAvailable}}" as TypedDocument<
    StartSession,
    StartSessionVariables
  >;

export const READ_HOLD = "query ReadHold{result:widget{held}}" as TypedDocument<ReadHold, ReadHoldVariables>;

export const READ_WIDGET =
  "query ReadWidget($variables:JSONObject){result:widget{assistantId name mode theme greeting(variables:$variables)textEnabled voiceEnabled engineVoice}}" as TypedDocument<
    ReadWidget,
    ReadWidgetVariables
  >;

export const START_CHAT =
  "mutation StartChat($input:WidgetChatInput!){result:startWidgetChat(input:$input){id channel status label startedAt messages{id role content createdAt quickReplies failed local clientId}}}" as TypedDocument<
    StartChat,
    StartChatVariables
  >;

export const READ_CHAT =
  "query ReadChat($id:ID!$after:ID){result:widgetChat(id:$id){id channel status label startedAt messages(after:$after){id role content createdAt quickReplies failed local clientId}}}" as TypedDocument<
    ReadChat,
    ReadChatVariables
  >;

export const READ_CHATS =
  "query ReadChats{result:widgetChats{id channel status label startedAt}}" as TypedDocument<
    ReadChats,
    ReadChatsVariables
  >;

export const POST_MESSAGE =
  "mutation PostMessage($input:WidgetMessageInput!){result:postWidgetMessage(input:$input){id role content createdAt quickReplies failed local clientId}}" as TypedDocument<
    PostMessage,
    PostMessageVariables
  >;

export const UPDATE_CHAT =
  "mutation UpdateChat($input:WidgetChatUpdate!){result:updateWidgetChat(input:$input){id}}" as TypedDocument<
    UpdateChat,
    UpdateChatVariables
  >;

export const END_CHAT = "mutation EndChat($id:ID!){result:endWidgetChat(id:$id){id}}" as TypedDocument<
  EndChat,
  EndChatVariables
>;

export const START_CALL =
  "mutation StartCall($input:WidgetCallInput!){result:startWidgetCall(input:$input){id webCallUrl}}" as TypedDocument<
    StartCall,
    StartCallVariables
  >;

export const WATCH_CHAT =
  "subscription WatchChat($chatId:ID!$after:ID){result:widgetChatEvents(chatId:$chatId after:$after){id name text status activity message{id role content createdAt quickReplies failed local clientId}}}" as TypedDocument<
    WatchChat,
    WatchChatVariables
  >;
