import { expect } from "@jest/globals";

/** Fields by their type in JSON; `!` marks required ones. */
export type Fields = Readonly<Partial<Record<"string" | "number" | "boolean" | "object" | "array", string>>>;

/** The names in a list of fields, sorted. */
export const namesOf = (fields: Fields): string[] =>
  Object.values(fields)
    .flatMap((names) => names.replaceAll("!", "").split(" "))
    .sort();

export const ASSISTANT: Fields = {
  string: "id! name! description",
  boolean: "template",
  object: "variables",
};

/** An assistant as REST returns it: fields that were not set are absent. */
export const assistantWith = (values: Readonly<Record<string, unknown>>): object => ({
  id: expect.any(String),
  template: false,
  ...values,
});

/** The `meta` of a page. */
export function metaOf({
  page = 1,
  take = 20,
  itemCount,
}: {
  page?: number;
  take?: number;
  itemCount: number;
}) {
  const pageCount = Math.ceil(itemCount / take);
  return { page, take, itemCount, pageCount, hasPreviousPage: page > 1, hasNextPage: page < pageCount };
}

export const KINDS = ["voice", "sms", "chat", "theme"] as const;
export type Kind = (typeof KINDS)[number];

/** Value of each field in a new assistant, and another valid value. */
type Values = Readonly<Record<string, readonly [unknown, unknown]>>;

const CHANNEL = {
  initialMessage: ["Hello! How can I help you today?", "Hi {name}"],
  prompt: [expect.stringMatching(/^You are .+\.$/), "You are brief."],
  resources: ["", "Open at 9.\nSee https://example.com"],
  provider: ["OPENAI", "GROQ"],
  model: ["GPT_4_O_MINI", "LLAMA_3_8B"],
  temperature: [0.7, 0],
  maxTokensOutput: [1024, 16384],
  functions: [[], [{ name: "look_up", description: "d", serverUrl: "https://93.184.215.14/look-up" }]],
} as const satisfies Values;

/** Fields of a configuration that a PATCH changes. */
const CHANGEABLE: Readonly<Record<Kind, Values>> = {
  voice: {
    ...CHANNEL,
    provider: ["OPENAI", "ANTHROPIC"],
    model: ["GPT_4_O_MINI", "CLAUDE_3_5_SONNET"],
    voiceProvider: [expect.stringMatching(/^(ELEVENLABS|PLAYHT|OPENAI)$/), "PLAYHT"],
    voice: [expect.stringMatching(/^[a-z]+$/), "michael"],
    backgroundSound: [expect.stringMatching(/^(DEFAULT|OFF|OFFICE)$/), "OFFICE"],
    backchanneling: [expect.any(Boolean), true],
    endCallFunction: [expect.any(Boolean), true],
    dialKeypadFunction: [expect.any(Boolean), true],
    endCallMessage: [expect.any(String), "Good-bye"],
    endCallPhrases: [expect.any(String), "bye,\nsee you"],
  },
  sms: {
    ...CHANNEL,
    smsMode: [true, false],
    voiceCallMode: [expect.any(Boolean), true],
    keywords: [expect.any(String), "info\nhelp, more"],
  },
  chat: { ...CHANNEL, chatMode: [true, false], quickRepliesEnabled: [expect.any(Boolean), true] },
  theme: { theme: [{}, { primaryColor: "#4338ca", own: { nested: [1, { two: null }] } }] },
};

const RAG = { isRagEnabled: false, forceRag: false, ragTriggerTopics: "", preserveRagResult: false };
/** Fields that only GraphQL can change, with their values in a new assistant. */
const READ_ONLY = { voice: RAG, sms: RAG, chat: RAG, theme: { mode: "VOICE_AND_CHAT" } };

const pick = (kind: Kind, index: 0 | 1) =>
  Object.fromEntries(Object.entries(CHANGEABLE[kind]).map(([name, values]) => [name, values[index]]));

/** The configuration of a new assistant, as REST returns it. */
export const defaultsOf = (kind: Kind): Record<string, unknown> => ({ ...pick(kind, 0), ...READ_ONLY[kind] });

/** A change of every field that a PATCH can change. */
export const changesOf = (kind: Kind): Record<string, unknown> => pick(kind, 1);

/** Fields of a record by the type of their values, all required. */
function typed(record: Readonly<Record<string, unknown>>): Fields {
  const names = new Map<string, string[]>();
  for (const [name, value] of Object.entries(record)) {
    const type = Array.isArray(value) ? "array" : typeof value;
    names.set(type, [...(names.get(type) ?? []), `${name}!`]);
  }
  return Object.fromEntries([...names].map(([type, list]) => [type, list.join(" ")]));
}

/** Fields of a configuration in a response. */
export const configurationOf = (kind: Kind): Fields => typed({ ...changesOf(kind), ...READ_ONLY[kind] });

/** Fields that the body of a PATCH accepts. */
export const patchOf = (kind: Kind): Fields => optional(typed(changesOf(kind)));

const optional = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([type, names]) => [type, names.replaceAll("!", "")]));
