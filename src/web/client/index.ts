export {
  Chat,
  type ChatEvent,
  type ChatPart,
  type ChatRecord,
  type Message,
  type NewChat,
  type SendMessageOptions,
} from "./chat";
export { createClient, type ClientOptions, type Parley } from "./create-client";
export { ParleyError, type ErrorDetail, type ErrorFields } from "./parley-error";
export type { Document, GraphQLOptions } from "./run-operation";
export type { SubscribeOptions } from "./subscribe";
export type { paths as RestPaths, components as RestComponents } from "./generated/rest";
export {
  verifyWebhook,
  type EventData,
  type EventName,
  type ReceivedRequest,
  type VerifiedWebhook,
  type VerifyOptions,
  type WebhookEvent,
} from "./verify-webhook";
