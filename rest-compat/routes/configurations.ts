import { group } from "../route";

const COMMON = "initialMessage prompt resources provider model temperature maxTokensOutput functions";
const RAG = "isRagEnabled forceRag ragTriggerTopics preserveRagResult";
const VOICE = `{ ${COMMON} voiceProvider voice backgroundSound backchanneling endCallFunction dialKeypadFunction endCallMessage endCallPhrases ${RAG} }`;
const SMS = `{ ${COMMON} smsMode voiceCallMode keywords ${RAG} }`;
const CHAT = `{ ${COMMON} chatMode quickRepliesEnabled ${RAG} }`;
const THEME = "{ theme mode }";

export const configurations = group("Configurations", "keyOrBearer", [
  {
    id: "getVoiceConfiguration",
    get: "/rest/v1/assistants/:assistantId/voice",
    summary: "Read how an assistant speaks and listens",
    document: `query VoiceConfiguration($assistantId: ID!) { assistant(id: $assistantId) { result: voice ${VOICE} } }`,
  },
  {
    id: "updateVoiceConfiguration",
    patch: "/rest/v1/assistants/:assistantId/voice",
    summary: "Change how an assistant speaks and listens",
    document: `mutation UpdateVoiceConfiguration($assistantId: ID!, $input: UpdateVoiceConfigurationInput!) {
      result: updateVoiceConfiguration(assistantId: $assistantId, input: $input) ${VOICE} }`,
  },
  {
    id: "getSmsConfiguration",
    get: "/rest/v1/assistants/:assistantId/sms",
    summary: "Read how an assistant answers SMS",
    document: `query SmsConfiguration($assistantId: ID!) { assistant(id: $assistantId) { result: sms ${SMS} } }`,
  },
  {
    id: "updateSmsConfiguration",
    patch: "/rest/v1/assistants/:assistantId/sms",
    summary: "Change how an assistant answers SMS",
    document: `mutation UpdateSmsConfiguration($assistantId: ID!, $input: UpdateSmsConfigurationInput!) {
      result: updateSmsConfiguration(assistantId: $assistantId, input: $input) ${SMS} }`,
  },
  {
    id: "getChatConfiguration",
    get: "/rest/v1/assistants/:assistantId/chat",
    summary: "Read how an assistant answers in text chats",
    document: `query ChatConfiguration($assistantId: ID!) { assistant(id: $assistantId) { result: chat ${CHAT} } }`,
  },
  {
    id: "updateChatConfiguration",
    patch: "/rest/v1/assistants/:assistantId/chat",
    summary: "Change how an assistant answers in text chats",
    document: `mutation UpdateChatConfiguration($assistantId: ID!, $input: UpdateChatConfigurationInput!) {
      result: updateChatConfiguration(assistantId: $assistantId, input: $input) ${CHAT} }`,
  },
  {
    id: "getThemeConfiguration",
    get: "/rest/v1/assistants/:assistantId/theme",
    summary: "Read how an assistant's widget looks",
    document: `query ThemeConfiguration($assistantId: ID!) { assistant(id: $assistantId) { result: theme ${THEME} } }`,
  },
  {
    id: "updateThemeConfiguration",
    patch: "/rest/v1/assistants/:assistantId/theme",
    summary: "Change how an assistant's widget looks",
    omit: ["mode"],
    document: `mutation UpdateThemeConfiguration($assistantId: ID!, $input: UpdateThemeConfigurationInput!) {
      result: updateThemeConfiguration(assistantId: $assistantId, input: $input) ${THEME} }`,
  },
]);
