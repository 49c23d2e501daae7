import type { JsonObject } from "../protocol";

export interface Widget {
  readonly assistantId: string;
  readonly name: string;
  readonly mode: "CHAT_ONLY" | "VOICE_ONLY" | "VOICE_AND_CHAT";
  readonly theme: JsonObject;
  readonly greeting: string | null;
  readonly textEnabled: boolean;
  readonly voiceEnabled: boolean;
  readonly engineVoice: boolean;
}

export interface SessionData {
  readonly token: string;
  readonly expiresAt: string;
  readonly visitorToken: string;
  /** Whether there may be chats of earlier visits. */
  readonly historyAvailable: boolean;
}

export interface Message {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly createdAt: string;
  readonly quickReplies: readonly string[];
  readonly failed: boolean;
  readonly clientId: string | null;
}

export type Channel = "TEXT" | "VOICE" | "SMS";

export interface ChatSummary {
  readonly id: string;
  readonly channel: Channel;
  readonly status: string;
  readonly label: string;
  readonly startedAt: string;
}

export interface ChatData extends ChatSummary {
  readonly messages: readonly Message[];
}

export interface ChatEvent {
  readonly id: string;
  readonly name: string;
  readonly text: string | null;
  readonly message: Message | null;
  readonly status: string | null;
  readonly activity: string | null;
}

const WIDGET =
  "assistantId name mode theme greeting(variables: $variables) textEnabled voiceEnabled engineVoice";
const MESSAGE = "id role content createdAt quickReplies failed clientId";
const SUMMARY = "id channel status label startedAt";

export const START_SESSION = `mutation StartWidgetSession($input: WidgetSessionInput!) {
  result: startWidgetSession(input: $input) { token expiresAt visitorToken historyAvailable }
}`;
export const READ_WIDGET = `query Widget($variables: JSONObject) { result: widget { ${WIDGET} } }`;
export const START_CHAT = `mutation StartWidgetChat($input: WidgetChatInput!) {
  result: startWidgetChat(input: $input) { ${SUMMARY} messages { ${MESSAGE} } }
}`;
export const READ_CHAT = `query WidgetChat($id: ID!, $after: ID) {
  result: widgetChat(id: $id) { ${SUMMARY} messages(after: $after) { ${MESSAGE} } }
}`;
export const READ_CHATS = `query WidgetChats { result: widgetChats { ${SUMMARY} } }`;
export const POST_MESSAGE = `mutation PostWidgetMessage($input: WidgetMessageInput!) {
  result: postWidgetMessage(input: $input) { ${MESSAGE} }
}`;
export const UPDATE_CHAT = `mutation UpdateWidgetChat($input: WidgetChatUpdate!) {
  result: updateWidgetChat(input: $input) { id }
}`;
export const END_CHAT = `mutation EndWidgetChat($id: ID!) { result: endWidgetChat(id: $id) { id } }`;
export const START_CALL = `mutation StartWidgetCall($input: WidgetCallInput!) {
  result: startWidgetCall(input: $input) { id webCallUrl }
}`;
export const WATCH_CHAT = `subscription WidgetChatEvents($chatId: ID!, $after: ID) {
  result: widgetChatEvents(chatId: $chatId, after: $after) {
    id name text status activity message { ${MESSAGE} }
  }
}`;
