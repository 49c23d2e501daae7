import { group } from "../route";

/** In bytes: a callback may contain the whole conversation. */
const bodyLimit = 16 * 1024 * 1024;

export const callbacks = group("Callbacks", "none", [
  {
    id: "engineServerMessages",
    post: "/rest/v1/webhooks/<voice_engine>/server-messages",
    success: 201,
    summary: "Receive an event of a call from the voice engine",
    stream: "engineServerMessages",
    takes: { message: { type: "status-update", status: "ringing", call: { id: "call_1" } } },
    answers: { "application/json": {} },
    bodyLimit,
  },
  {
    id: "engineChatCompletions",
    post: "/rest/v1/webhooks/<voice_engine>/custom-llm/chat/completions",
    success: 201,
    summary: "Generate the assistant's next answer in a call, for the voice engine",
    stream: "engineChatCompletions",
    takes: {
      model: "GPT_4_O_MINI",
      stream: true,
      messages: [{ role: "user", content: "When are you open?" }],
    },
    answers: {
      "application/json": {
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1769860800,
        model: "GPT_4_O_MINI",
        choices: [
          { index: 0, message: { role: "assistant", content: "We open at 8." }, finish_reason: "stop" },
        ],
      },
      "text/event-stream":
        'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1769860800,"model":"GPT_4_O_MINI","choices":[{"index":0,"delta":{"role":"assistant","content":"We open at 8."},"finish_reason":null}]}\n\ndata: [DONE]\n\n',
    },
    bodyLimit,
  },
  {
    id: "interceptSms",
    post: "/webhooks/<telephony_provider>/intercept-sms",
    summary: "Receive an inbound SMS from the telephony provider",
    stream: "interceptSms",
    body: "form",
    takes: {
      MessageSid: "SM00000000000000000000000000000001",
      From: "+12025550123",
      To: "+12025550100",
      Body: "Are you open?",
    },
    answers: { "text/xml": "<Response><Message>We are, until six.</Message></Response>" },
    refuses: ["FORBIDDEN"],
    bodyLimit: 64 * 1024,
  },
  {
    id: "smsStatus",
    post: "/webhooks/<telephony_provider>/sms-status",
    summary: "Receive the delivery status of an SMS from the telephony provider",
    stream: "smsStatus",
    body: "form",
    takes: {
      MessageSid: "SM00000000000000000000000000000001",
      From: "+12025550100",
      To: "+12025550123",
      MessageStatus: "delivered",
    },
    answers: { "text/xml": "<Response></Response>" },
    refuses: ["FORBIDDEN"],
    bodyLimit: 64 * 1024,
  },
]);
