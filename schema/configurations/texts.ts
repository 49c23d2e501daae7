/** What the fields of the configurations mean, said once for reading and for changing them. */
export const TEXT = {
  initialMessage: "Greeting that opens a conversation; variables as {name}.",
  prompt: "Instructions to the model; variables as {name}.",
  resources:
    "Knowledge that the assistant may look things up in, as plain text; an address in it is not fetched. Where isRagEnabled is off, a model is given its first 16,000 characters.",
  provider:
    "Vendor of the text model. The model decides who is called; a mismatch is a configuration warning.",
  model: "Text model that answers.",
  temperature: "How freely the model chooses its words, 0 to 2.",
  maxTokensOutput: "Longest answer, in tokens: 1 to 16384.",
  functions:
    'Functions that the model may call, stored as sent; at most 64. Understood: {name, description, parameters, serverUrl, secretKey} and {type: "function", function: {name, description, parameters}, server: {url, secret}}.',
  isRagEnabled: "Whether the assistant looks things up in its resources and files.",
  forceRag: "Whether it looks things up before every answer.",
  ragTriggerTopics: "Topics that make it look things up, separated by commas or line breaks.",
  preserveRagResult: "Whether what was found stays in view for the next answers.",
} as const;
export const VOICE = {
  voiceProvider: "Vendor of the speech synthesis.",
  voice: "Voice that speaks.",
  backgroundSound: "What is heard behind the voice.",
  backchanneling: "Whether the assistant makes listening sounds while the person speaks.",
  endCallFunction: "Whether the model may end the call.",
  dialKeypadFunction: "Whether the model may press keys of the phone.",
  endCallMessage: "What is said before the assistant hangs up.",
  endCallPhrases: "Phrases of the assistant that end the call, separated by commas or line breaks.",
} as const;
export const SMS = {
  smsMode: "Whether the SMS channel is on.",
  voiceCallMode: "Whether a person who texts may ask to be called.",
  keywords:
    "Words that bring an inbound SMS on a shared number to this assistant, separated by commas or line breaks.",
} as const;
export const CHAT = {
  chatMode: "Whether the text chat channel is on.",
  quickRepliesEnabled: "Whether answers carry suggestions of what to say next.",
} as const;
export const THEME = {
  theme:
    "Look of the widget: primaryColor, backgroundColor, textColor, fontFamily, position (left, right), title, subtitle, avatarUrl, launcherText, borderRadius; other keys are kept.",
  mode: "What the widget offers.",
  allowedOrigins:
    "Origins of the web pages that may show the widget, such as https://www.example.com: scheme, host and port, without a path. At most 50; none: every page may.",
} as const;
