import type { JsonObject } from "../../platform/json/json-object";
import { Fields } from "./fields";
import { timeOf } from "./log-of";
import { textOf } from "./source";
import { readAll } from "./vapi-list";
import { asWritten, functionFor } from "./vendor-functions";
import {
  configurationsOf,
  modelFor,
  notesOf,
  remarksOn,
  OF_ENGINE,
  OF_VENDOR,
  ofTool,
  entriesInFile,
  temperatureOf,
  voiceFor,
  withVariables,
  type Mapped,
  type Reasons,
  type Vendor,
  type VendorImport,
} from "./vendor";
import { storeAssistants } from "./store-assistants";
import { nameOf, noVoice } from "./vendor-gaps";

const WEBHOOK = "receives events of calls: create a webhook destination for it";
const AUTHENTICATES = "authenticates, or goes with, requests to";
const REASONS: Reasons = [
  [/^(orgId|latestVersion|isServerUrlSecretSet)$/, OF_VENDOR],
  [/^model\.tools\.\d+\.(id|orgId|createdAt|updatedAt|latestVersion)$/, OF_VENDOR],
  [/^server\.(headers|credentialId)\b/, `${AUTHENTICATES} functions: give them a secret`],
  [
    /^server\.timeoutSeconds$/,
    "is a time limit for receivers of events: all destinations have the same here",
  ],
  [/^(server|serverUrl)\b/, WEBHOOK],
  [/^(serverMessages|clientMessages)\b/, "chooses events: destinations choose theirs"],
  [/^model\.tools\.\d+\.server\.(headers|credentialId)\b/, `${AUTHENTICATES} the function: give it a secret`],
  [/^model\.tools\.\d+\.server\b/, "is a setting of requests that applies to all functions here"],
  [/^model\.toolIds\b/, "names a tool outside of the file: import with --from-key to get it"],
  [/^model\.tools\b/, ofTool("model.tools")],
  [
    /^model\.(knowledgeBase|knowledgeBaseId)\b/,
    "names files of the vendor: upload them and attach them to the assistant",
  ],
  [/^model\.messages\b/, "belongs to an example message: only system messages are part of a prompt"],
  [/^(credentials|credentialIds)\b/, "is a credential of the vendor"],
  [/^voice\b/, "belongs to a voice, or a setting of it, without a counterpart"],
  [
    /^(transcriber|startSpeakingPlan|stopSpeakingPlan|backgroundSpeechDenoisingPlan|voicemailDetection)\b/,
    OF_ENGINE,
  ],
  [/^(transportConfigurations|keypadInputPlan|monitorPlan|artifactPlan|maxDurationSeconds)\b/, OF_ENGINE],
  [/^(silenceTimeoutSeconds|firstMessageInterruptionsEnabled|backgroundDenoisingEnabled)\b/, OF_ENGINE],
];

const PROVIDERS = new Set(["openai", "groq", "anthropic"]);

const VAPI: Vendor = {
  name: "Vapi",
  sets: /^(now|date|time|month|day|year|(customer|transport|call|phoneNumber)\..+)$/,
  noun: "assistant",
  id: "id",
  lists: ["assistants", "results", "data"],
  fields: ["id", "name", "model", "firstMessage", "transcriber"],
  others: [
    ...["members", "nodes", "type", "number", "metrics", "schema"],
    ...["assistantId", "assistantIds", "squadId", "workflowId"],
  ],
};

/** Imports assistants of Vapi. */
export async function importVapi(work: VendorImport): Promise<void> {
  const { source, file } = work;
  const given = source ? await readAll(source, work.report) : entriesInFile(file!, VAPI);
  await storeAssistants(work, VAPI, given, mapVapi);
}

const SOUNDS: Readonly<Record<string, string>> = { off: "OFF", office: "OFFICE", default: "DEFAULT" };

/** An assistant of Vapi as one of Parley. */
export function mapVapi(assistant: JsonObject): Mapped {
  const fields = new Fields(assistant);
  const notes: string[] = [];
  const id = fields.text("id");
  const { functions, endCall, keypad } = toolsOf(fields, notes);
  const shared = {
    initialMessage: greetingOf(fields, notes),
    prompt: promptOf(fields, notes),
    temperature: temperatureOf(fields, "model", "temperature"),
    maxTokensOutput: fields.number("model.maxTokens"),
    functions,
  };
  const voice = {
    ...speechOf(fields, notes),
    backgroundSound: soundOf(fields),
    backchanneling: fields.boolean("backchannelingEnabled") ?? false,
    endCallFunction: fields.boolean("endCallFunctionEnabled") || endCall,
    dialKeypadFunction: fields.boolean("dialKeypadFunctionEnabled") || keypad,
    endCallMessage: asWritten(fields.text("endCallMessage"), "endCallMessage", notes) ?? "",
    endCallPhrases: phrasesOf(fields, notes),
  };
  const models = modelsOf(fields, notes);
  const input = {
    ...{
      id,
      name: nameOf(fields, "name", `Vapi assistant ${id}`, notes),
      createdAt: timeOf(fields.text("createdAt")),
      updatedAt: timeOf(fields.text("updatedAt")),
    },
    ...configurationsOf(shared, voice, models),
  };
  return {
    input,
    notes: [...notes, ...notesOf(fields, REASONS)],
    remarks: remarksOn(input, functions, VAPI),
  };
}

/** The model of a provider that exists here, too: others serve models of the same name with their own keys. */
function modelsOf(fields: Fields, notes: string[]): Readonly<Record<string, JsonObject>> {
  const provider = fields.text("model.provider");
  if (provider !== undefined && PROVIDERS.has(provider))
    return modelFor(fields.text("model.model"), "model.model", notes);
  if (provider === undefined && fields.peek("model.model") === undefined)
    return modelFor(undefined, "model.model", notes);
  for (const [path, value] of [
    ["model.provider", provider],
    ["model.model", fields.text("model.model")],
  ] as const)
    if (value !== undefined)
      notes.push(
        `${path} is "${value}", which has no counterpart: the assistant has the model of this server. See docs/models.md.`,
      );
  return {};
}

function greetingOf(fields: Fields, notes: string[]): string | undefined {
  const mode = fields.text("firstMessageMode");
  if (mode === "assistant-waits-for-user") {
    if (fields.text("firstMessage"))
      notes.push("firstMessage is not said, as the assistant waits for the person.");
    return "";
  }
  if (mode === "assistant-speaks-first-with-model-generated-message")
    notes.push("firstMessageMode lets the model write the greeting: here it is a fixed text.");
  return withVariables(fields.text("firstMessage"), "firstMessage", notes) ?? "";
}

/** The system messages. */
function promptOf(fields: Fields, notes: string[]): string | undefined {
  const system = fields.entries("model.messages").filter((path) => fields.peek(`${path}.role`) === "system");
  fields.take(...system.map((path) => `${path}.role`));
  const parts = [fields.text("model.systemPrompt"), ...system.map((path) => fields.text(`${path}.content`))];
  const texts = parts.filter((part) => part !== undefined);
  return texts.length === 0 ? undefined : withVariables(texts.join("\n\n"), "model.messages", notes);
}

function speechOf(fields: Fields, notes: string[]): JsonObject {
  const [provider, voice] = [fields.peek("voice.provider"), fields.peek("voice.voiceId")].map(textOf);
  const found = voiceFor(provider, voice);
  if (found) fields.take("voice.provider", "voice.voiceId");
  else if (voice !== undefined) {
    fields.take("voice.voiceId");
    notes.push(noVoice("voice.voiceId", voice));
  }
  return found ?? {};
}

function soundOf(fields: Fields): string | undefined {
  const sound = SOUNDS[textOf(fields.peek("backgroundSound")) ?? ""];
  if (sound !== undefined) fields.take("backgroundSound");
  return sound;
}

function phrasesOf(fields: Fields, notes: string[]): string {
  const phrases = fields.peek("endCallPhrases");
  if (!Array.isArray(phrases)) return "";
  fields.take("endCallPhrases");
  const texts = phrases.flatMap((phrase) => textOf(phrase) ?? []);
  if (texts.length < phrases.length)
    notes.push("endCallPhrases has an entry that is no text: it is left out.");
  if (texts.some((text) => text.includes(",")))
    notes.push("endCallPhrases has a phrase with a comma, which separates phrases here: check it.");
  return texts.join("\n");
}

function toolsOf(fields: Fields, notes: string[]) {
  const tools = fields.entries("model.tools");
  const ofType = (type: string) => tools.filter((path) => fields.peek(`${path}.type`) === type);
  const [ending, dialing] = [ofType("endCall"), ofType("dtmf")];
  fields.take(...[...ending, ...dialing].map((path) => `${path}.type`));
  const functions = [
    ...ofType("function").map((path) => functionOf(fields, path, `${path}.function`, notes)),
    ...fields.entries("model.functions").map((path) => functionOf(fields, path, path, notes)),
  ];
  return { functions, endCall: ending.length > 0, keypad: dialing.length > 0 };
}

const secretOfAssistant = (fields: Fields): string | undefined =>
  fields.text("server.secret") ?? fields.text("serverUrlSecret");

/** A function with its server: its own, else that of the assistant. */
function functionOf(fields: Fields, tool: string, inside: string, notes: string[]): JsonObject {
  fields.take(`${tool}.type`);
  const own = [`${tool}.server.url`, `${tool}.serverUrl`].find((one) => fields.text(one) !== undefined);
  const path = own ?? ["server.url", "serverUrl"].find((one) => textOf(fields.peek(one)) !== undefined);
  const secret =
    fields.text(`${tool}.server.secret`) ?? (own === undefined ? secretOfAssistant(fields) : undefined);
  return functionFor(fields, inside, path === undefined ? undefined : { path, secret }, notes);
}
