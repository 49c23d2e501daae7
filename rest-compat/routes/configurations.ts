import { group } from "../route";

const COMMON = "initialMessage prompt resources provider model temperature maxTokensOutput functions";
const RAG = "isRagEnabled forceRag ragTriggerTopics preserveRagResult";
const VOICE = `{ ${COMMON} voiceProvider voice backgroundSound backchanneling endCallFunction dialKeypadFunction endCallMessage endCallPhrases ${RAG} }`;
const SMS = `{ ${COMMON} smsMode voiceCallMode keywords ${RAG} }`;
const CHAT = `{ ${COMMON} chatMode quickRepliesEnabled ${RAG} }`;
const THEME = "{ theme mode }";
const FILES = "Attach files with the GraphQL mutation `attachFile`; see [Knowledge](/docs/knowledge).";

const THEME_KEYS = [
  ...["primaryColor", "backgroundColor", "textColor", "fontFamily", "position", "title"],
  ...["subtitle", "avatarUrl", "launcherText", "borderRadius"],
];

export const configurations = group("Configurations", "keyOrBearer", [
  {
    id: "getVoiceConfiguration",
    get: "/rest/v1/assistants/:assistantId/voice",
    summary: "Get the voice configuration of an assistant",
    document: `query VoiceConfiguration($assistantId: ID!) { assistant(id: $assistantId) { result: voice ${VOICE} } }`,
  },
  {
    id: "updateVoiceConfiguration",
    patch: "/rest/v1/assistants/:assistantId/voice",
    summary: "Update the voice configuration of an assistant",
    notes: FILES,
    document: `mutation UpdateVoiceConfiguration($assistantId: ID!, $input: UpdateVoiceConfigurationInput!) {
      result: updateVoiceConfiguration(assistantId: $assistantId, input: $input) ${VOICE} }`,
  },
  {
    id: "getSmsConfiguration",
    get: "/rest/v1/assistants/:assistantId/sms",
    summary: "Get the SMS configuration of an assistant",
    document: `query SmsConfiguration($assistantId: ID!) { assistant(id: $assistantId) { result: sms ${SMS} } }`,
  },
  {
    id: "updateSmsConfiguration",
    patch: "/rest/v1/assistants/:assistantId/sms",
    summary: "Update the SMS configuration of an assistant",
    notes: FILES,
    document: `mutation UpdateSmsConfiguration($assistantId: ID!, $input: UpdateSmsConfigurationInput!) {
      result: updateSmsConfiguration(assistantId: $assistantId, input: $input) ${SMS} }`,
  },
  {
    id: "getChatConfiguration",
    get: "/rest/v1/assistants/:assistantId/chat",
    summary: "Get the chat configuration of an assistant",
    document: `query ChatConfiguration($assistantId: ID!) { assistant(id: $assistantId) { result: chat ${CHAT} } }`,
  },
  {
    id: "updateChatConfiguration",
    patch: "/rest/v1/assistants/:assistantId/chat",
    summary: "Update the chat configuration of an assistant",
    notes: FILES,
    document: `mutation UpdateChatConfiguration($assistantId: ID!, $input: UpdateChatConfigurationInput!) {
      result: updateChatConfiguration(assistantId: $assistantId, input: $input) ${CHAT} }`,
  },
  {
    id: "getThemeConfiguration",
    get: "/rest/v1/assistants/:assistantId/theme",
    summary: "Get the theme of an assistant's widget",
    document: `query ThemeConfiguration($assistantId: ID!) { assistant(id: $assistantId) { result: theme ${THEME} } }`,
  },
  {
    id: "updateThemeConfiguration",
    patch: "/rest/v1/assistants/:assistantId/theme",
    summary: "Update the theme of an assistant's widget",
    omit: ["mode"],
    hints: Object.fromEntries(
      THEME_KEYS.map((key) => [
        key,
        `send it as theme.${key}, with the rest of the theme, which is replaced as a whole`,
      ]),
    ),
    document: `mutation UpdateThemeConfiguration($assistantId: ID!, $input: UpdateThemeConfigurationInput!) {
      result: updateThemeConfiguration(assistantId: $assistantId, input: $input) ${THEME} }`,
  },
]);
