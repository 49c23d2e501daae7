/** Description of the values that a chat, call or page passes. */
export const VARIABLES =
  "Values of variables, by name; they take precedence over the assistant's. Names consist of letters, digits, _ and ., and begin with a letter or _.";
/** Descriptions of the configurations' fields, shared by the types and the inputs. */
export const TEXT = {
  id: "Id for caches: the assistant's id, a dot and the channel or `theme`, such as `<assistantId>.voice`.",
  initialMessage:
    "Greeting that opens a conversation. Write variables as {name}; names consist of letters, digits, _ and ., and begin with a letter or _.",
  prompt:
    "Instructions to the model. Write variables as {name}; names consist of letters, digits, _ and ., and begin with a letter or _.",
  resources:
    "Knowledge of the assistant, as plain text: variables in it are not replaced, URLs not fetched. If isRagEnabled is false, the model gets the first 16,000 characters; otherwise passages are looked up.",
  provider:
    "Provider of the text model. Requests always go to the provider of `model`; a mismatch is a configuration warning.",
  model: "Text model that answers.",
  temperature: "Sampling temperature of the model, 0 to 2. Higher values vary the wording more.",
  maxTokensOutput: "Maximum length of an answer in tokens, 1 to 16,384.",
  functions:
    'Functions that the model may call, stored as sent; at most 64. Supported forms: {name, description, parameters, serverUrl, secretKey} and {type: "function", function: {name, description, parameters}, server: {url, secret}}.',
  isRagEnabled: "Whether the assistant looks up passages in its resources and files.",
  forceRag: "Whether the assistant looks up passages before every answer.",
  ragTriggerTopics: "Topics that trigger a lookup before the answer, separated by commas or line breaks.",
  preserveRagResult:
    "Whether passages that were found stay available to the model for the following answers.",
} as const;
export const VOICE = {
  voiceProvider: "Provider of speech synthesis.",
  voice: "Voice of the assistant.",
  backgroundSound: "Background sound of calls.",
  backchanneling: "Whether the assistant makes listening sounds while the caller speaks.",
  endCallFunction: "Whether the model may end the call.",
  dialKeypadFunction: "Whether the model may press keys on the phone's keypad.",
  endCallMessage: "Message spoken before the assistant hangs up.",
  endCallPhrases: "Phrases of the assistant that end the call, separated by commas or line breaks.",
} as const;
export const SMS = {
  smsMode: "Whether the SMS channel is enabled.",
  voiceCallMode: "Whether a person who texts may ask for a call.",
  keywords:
    "Words that route an inbound SMS on a shared number to this assistant, separated by commas or line breaks.",
} as const;
export const CHAT = {
  chatMode: "Whether the text chat channel is enabled.",
  quickRepliesEnabled: "Whether answers include suggested replies.",
} as const;
export const THEME = {
  theme:
    "Look of the widget: primaryColor, backgroundColor, textColor, fontFamily, position (left, right), title, subtitle, avatarUrl, launcherText, borderRadius; other keys are kept.",
  mode: "Mode of the widget: text chat, voice, or both.",
  allowedOrigins:
    "Origins of the web pages that may show the widget, such as https://www.example.com: scheme, host and port, without a path. At most 50; if empty, every page may.",
} as const;
