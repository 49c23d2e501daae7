import { ASSISTANT_ID, CHAT_ID, type ExplorerTab } from "./placeholders";
import { analytics, files, models, webhooks } from "./record-tabs";

/** Id of the receptionist template, which every installation has. */
const TEMPLATE_ID = "019b8d62-7a80-7a31-8c52-4be1f07d9a36";

const assistants: ExplorerTab = {
  query: `# Welcome to Parley.
# 1. Enter a secret key above. The service prints one
#    on its first start. This browser tab keeps it until
#    you close it.
# 2. Press the play button, or Ctrl-Enter.
# 3. Go on with the next tab: ids are carried over.
# The book icon opens the documentation of the schema.

query Assistants {
  assistants(order: desc, page: 1, take: 10) {
    data {
      id
      name
      description
      variables
      chat {
        provider
        model
        prompt
        initialMessage
        temperature
        maxTokensOutput
      }
      sms { provider model smsMode keywords }
      voice { provider model voiceProvider voice }
      theme { theme mode }
      createdAt
    }
    meta { page pageCount itemCount hasNextPage }
  }
}
`,
};

const createAssistant: ExplorerTab = {
  query: `# Edit the name and the other fields under "Variables".
# The new assistant gets all four configurations, with
# working defaults. The next tabs use its id.

mutation CreateAssistant($input: CreateAssistantInput!) {
  createAssistant(input: $input) {
    id
    name
    description
    variables
    chat { provider model prompt }
  }
}
`,
  variables: {
    input: {
      name: "Ada",
      description: "Answers questions about our opening hours",
      variables: { company: "Example Ltd", openingHours: "Monday to Friday, 9 to 17" },
    },
  },
};

const configureChat: ExplorerTab = {
  query: `# "Variables" below has the id of the assistant that you
# created last. Omitted fields stay unchanged. {company} is replaced
# by the assistant's variable of that name. Without a model,
# answers come from "resources".

mutation ConfigureChat($assistantId: ID!, $input: UpdateChatConfigurationInput!) {
  updateChatConfiguration(assistantId: $assistantId, input: $input) {
    initialMessage
    prompt
    resources
    provider
    model
    temperature
    maxTokensOutput
    chatMode
    quickRepliesEnabled
    functions
  }
}
`,
  variables: {
    assistantId: ASSISTANT_ID,
    input: {
      initialMessage: "Hello, this is {company}. How can I help?",
      prompt: "You answer for {company}, in at most three sentences. Opening hours: {openingHours}.",
      resources: "# Opening hours\nWe are open from Monday to Friday, from 9:00 to 17:00.",
      provider: "OPENAI",
      model: "GPT_4_O_MINI",
      temperature: 0.7,
      maxTokensOutput: 500,
      chatMode: true,
      quickRepliesEnabled: false,
    },
  },
};

const configureTheme: ExplorerTab = {
  query: `# Changes the appearance of an assistant's widget.
# "theme" is replaced as a whole.

mutation ConfigureTheme($assistantId: ID!, $input: UpdateThemeConfigurationInput!) {
  updateThemeConfiguration(assistantId: $assistantId, input: $input) {
    theme
    mode
  }
}
`,
  variables: {
    assistantId: ASSISTANT_ID,
    input: { theme: { primaryColor: "#4338ca", position: "right", title: "Ask Ada" }, mode: "CHAT_ONLY" },
  },
};

const startChat: ExplorerTab = {
  query: `# Three operations: the play button asks which to run,
# Ctrl-Enter runs the one at the cursor. Start a chat, post
# a message, then read both.

mutation StartChat($start: StartChatInput!) {
  startChat(input: $start) {
    id
    status
    messages { id role content }
  }
}

# With "withReply", the response comes after the assistant's answer.
mutation PostMessage($message: PostMessageInput!) {
  postMessage(input: $message, withReply: true) {
    id
    content
    reply { id role content createdAt }
  }
}

query ReadChat($chatId: ID!) {
  chat(id: $chatId) {
    status
    endedReason
    messages(last: 50) { sequence role content }
  }
}
`,
  variables: {
    start: { assistantId: ASSISTANT_ID, channel: "TEXT", variables: {}, metadata: {}, uniqueId: "explorer" },
    message: {
      aiChatId: CHAT_ID,
      role: "USER",
      channel: "TEXT",
      content: "When are you open on Friday?",
      metadata: {},
    },
    chatId: CHAT_ID,
  },
};

const watchChat: ExplorerTab = {
  query: `# Shows the events of the chat, the latest first, and each
# new one as it happens, until you press the button again
# or open another tab. Run it again after you have posted
# a message. "after" is the id of an event: later ones are
# shown. With "0" all are shown.

subscription WatchChat($chatId: ID!, $after: ID) {
  chatEvents(chatId: $chatId, after: $after) {
    id
    name
    status
    message { id role content }
  }
}
`,
  variables: { chatId: CHAT_ID, after: "0" },
};

const organization: ExplorerTab = {
  query: `# Reads the key's organization and its keys, and creates
# a public key for a widget. Only a secret key sees the
# full values of keys.

query Organization {
  organization { id name }
  keys { id type status value lastUsedAt }
}

mutation CreatePublicKey {
  createKey(input: { type: PUBLIC }) {
    id
    type
    status
    value
  }
}
`,
};

const templates: ExplorerTab = {
  query: `# Templates are shared and read-only: duplicate one to use
# it. The id under "Variables" is the receptionist's. Your
# own assistants can be duplicated, too.

query Templates {
  assistantTemplates(order: desc, page: 1, take: 20) {
    data { id name description variables }
    meta { itemCount }
  }
}

mutation DuplicateAssistant($id: ID!) {
  duplicateAssistant(id: $id) {
    id
    name
    template
    chat { prompt }
  }
}
`,
  variables: { id: TEMPLATE_ID },
};

export const explorerTabs: readonly ExplorerTab[] = [
  assistants,
  createAssistant,
  configureChat,
  configureTheme,
  startChat,
  watchChat,
  files,
  webhooks,
  models,
  analytics,
  organization,
  templates,
];
