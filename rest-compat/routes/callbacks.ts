import { group } from "../route";

/** Known paths that answer 501 until the service takes part in calls and SMS. */
export const callbacks = group("Callbacks", "none", [
  {
    id: "engineServerMessages",
    post: "/rest/v1/webhooks/<voice_engine>/server-messages",
    success: 201,
    summary: "What the voice engine tells of a call",
  },
  {
    id: "engineChatCompletions",
    post: "/rest/v1/webhooks/<voice_engine>/custom-llm/chat/completions",
    success: 201,
    summary: "What the voice engine asks the assistant to say",
  },
  {
    id: "interceptSms",
    post: "/webhooks/<telephony_provider>/intercept-sms",
    summary: "An SMS that came in at the telephony provider",
  },
]);
