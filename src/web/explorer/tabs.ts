/** A tab that the explorer opens with. Nothing of the browser here: a contract test validates each against the schema. */
export interface ExplorerTab {
  /** GraphiQL shows the name of the first operation as the tab's title. */
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

// One word each, so that a double click selects it.
const ASSISTANT_ID = "ASSISTANT_ID";
const CHAT_ID = "CHAT_ID";
/** Of the receptionist, which every service has. */
const TEMPLATE_ID = "019b8d62-7a80-7a31-8c52-4be1f07d9a36";

const assistants: ExplorerTab = {
  query: `# Welcome to Parley.
# 1. Put a secret key into the "Headers" below. It goes
#    with every tab, and stays until this page is closed.
# 2. Press the play button, or Ctrl-Enter.
# The icon at the top left opens the documentation.

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
  query: `# Its name and the rest are under "Variables", below.
# A new assistant has its four configurations at once,
# with defaults that work.

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
  query: `# Put the assistant's id under "Variables", below.
# A field that is left out stays as it was. {company}
# stands for the assistant's variable of that name.

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
  query: `# How an assistant's widget looks.
# Put its id under "Variables"; "theme" is replaced whole.

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
# Ctrl-Enter runs the one at the cursor. Put into the
# "Variables" the assistant's id, then the new chat's.

mutation StartChat($start: StartChatInput!) {
  startChat(input: $start) {
    id
    status
    messages { id role content }
  }
}

# With "wait", answers once the assistant has replied.
mutation PostMessage($message: PostMessageInput!) {
  postMessage(input: $message, wait: true) {
    id
    role
    content
    createdAt
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
  query: `# Put a chat's id under "Variables". This stays open and
# shows each event as it happens, until the button is
# pressed again. Post a message from a second window
# meanwhile. "after", an event's id, shows what came
# behind it.

subscription WatchChat($chatId: ID!, $after: ID) {
  chatEvents(chatId: $chatId, after: $after) {
    id
    name
    status
    message { id role content }
  }
}
`,
  variables: { chatId: CHAT_ID },
};

const organization: ExplorerTab = {
  query: `# The organization that the key belongs to, its keys, and
# a new public key, as a widget needs one. Only a secret
# key sees the values of keys in full.

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
# it. The id under "Variables" is the receptionist's; any
# assistant can be duplicated.

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
  organization,
  templates,
];
