import type { JsonObject } from "../../platform/json/json-object";
import { Fields } from "./fields";
import { LLM, readAll } from "./retell-list";
import { isObject, textOf } from "./source";
import { functionFor } from "./vendor-functions";
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

const REASONS: Reasons = [
  [
    /(^|\.)(version|base_version|version_title|version_description|is_published|last_modification_timestamp)$/,
    OF_VENDOR,
  ],
  [/^(assigned_tags|channel|llmURL)\b/, OF_VENDOR],
  [/^retellLlmData\.(llm_id|version)$/, OF_VENDOR],
  [/^response_engine\b/, "names a response engine of the vendor"],
  [/^(webhook_url|webhook_events)\b/, "receives events: create a webhook destination for it"],
  [/^webhook_timeout_ms\b/, "is a time limit for receivers of events: all destinations have the same here"],
  [/^retellLlmData\.(states|starting_state)\b/, "belongs to a state: build a workflow with a node for each"],
  [/^retellLlmData\.general_tools\.\d+\.headers\b/, "cannot be sent with functions: only a secret can"],
  [/^retellLlmData\.general_tools\b/, ofTool(`${LLM}.general_tools`)],
  [/^retellLlmData\.mcps\b/, "is a tool server: add it with updateToolServers"],
  [
    /^retellLlmData\.(knowledge_base_ids|kb_config)\b/,
    "names knowledge of the vendor: upload the files and attach them",
  ],
  [
    /^retellLlmData\.(model_high_priority|tool_call_strict_mode|s2s_model)\b/,
    "is a setting of the vendor's models",
  ],
  [
    /^(data_storage_|pii_config|opt_in_signed_url|signed_url_)/,
    "decides what is kept: set the retention instead",
  ],
  [
    /^(post_call_analysis|post_chat_analysis)/,
    "is an analysis by the vendor: read the statistics and logs instead",
  ],
  [/^voice(?!mail)/, "belongs to a voice, or a setting of it, without a counterpart"],
  [
    /^(ambient_sound|backchannel_|interruption_|responsiveness|end_call_after|max_call_duration|reminder_)/,
    OF_ENGINE,
  ],
  [
    /^(stt_mode|custom_stt_config|denoising_mode|volume|ring_duration|allow_|user_dtmf|voicemail_|ivr_)/,
    OF_ENGINE,
  ],
];

const RETELL: Vendor = {
  name: "Retell",
  sets: /^(current_(time|calendar|hour|agent_state)|previous_agent_state|(user|agent)_number|(call|chat)_(id|type)|direction|session_(type|duration))$/,
  noun: "agent",
  id: "agent_id",
  lists: ["agents", "items"],
  fields: ["agent_id", "agent_name", "agent", "response_engine", LLM],
  others: ["call_id", "chat_id", "phone_number", "test_case_definition_id"],
};

/** Imports agents of Retell. */
export async function importRetell(work: VendorImport): Promise<void> {
  const { source, file, report } = work;
  const given = source ? await readAll(source, report) : entriesInFile(file!, RETELL);
  await storeAssistants(work, RETELL, given, (agent) => mapRetell(normalized(agent)));
}

/** The form of exported files: an agent with its response engine inside. */
function normalized(given: JsonObject): JsonObject {
  const { agent, llm, ...rest } = given;
  if (!isObject(agent)) return isObject(llm) ? { ...rest, [LLM]: llm } : given;
  return { ...rest, ...agent, ...(isObject(llm) && { [LLM]: llm }) };
}

/** An agent of Retell as an assistant of Parley. */
export function mapRetell(agent: JsonObject): Mapped {
  const fields = new Fields(agent);
  const notes: string[] = [];
  const id = fields.text("agent_id") || idOfEngine(fields, notes);
  if (fields.object("conversationFlow"))
    // hundreds of fields in one sentence
    notes.push("conversationFlow is a conversation flow: build a workflow for it.");
  if (!isObject(fields.peek(LLM)))
    notes.push(
      "The response engine is not in the file or is no LLM of the vendor: prompt, greeting and tools are missing.",
    );
  const { functions, endCall, keypad } = toolsOf(fields, notes);
  const shared = {
    initialMessage: greetingOf(fields, notes),
    prompt: withVariables(fields.text(`${LLM}.general_prompt`), `${LLM}.general_prompt`, notes),
    temperature: temperatureOf(fields, LLM, "model_temperature"),
    functions,
  };
  const voice = {
    ...speechOf(fields, notes),
    backgroundSound: soundOf(fields),
    backchanneling: fields.boolean("enable_backchannel") ?? false,
    endCallFunction: endCall,
    dialKeypadFunction: keypad,
  };
  const models = isObject(fields.peek(LLM))
    ? modelFor(fields.text(`${LLM}.model`), `${LLM}.model`, notes)
    : {};
  const input = {
    ...{ id, name: nameOf(fields, "agent_name", `Retell agent ${id}`, notes) },
    variables: fields.object(`${LLM}.default_dynamic_variables`),
    ...configurationsOf(shared, voice, models),
  };
  return {
    input,
    notes: [...notes, ...notesOf(fields, REASONS)],
    remarks: remarksOn(input, functions, RETELL),
  };
}

/** Files that the dashboard exports have an empty `agent_id`, but ids of response engines. */
function idOfEngine(fields: Fields, notes: string[]): string | undefined {
  const paths = [`${LLM}.llm_id`, "response_engine.llm_id", "response_engine.conversation_flow_id"];
  const path = paths.find((one) => textOf(fields.peek(one)));
  if (path !== undefined)
    notes.push(`The file has no agent_id: the assistant has the id of the response engine, ${path}.`);
  return path && fields.text(path);
}

function greetingOf(fields: Fields, notes: string[]): string | undefined {
  const path = `${LLM}.begin_message`;
  const waits = fields.text(`${LLM}.start_speaker`) === "user";
  const message = fields.text(path);
  if (waits) {
    if (message) notes.push(`${path} is not said, as the assistant waits for the person.`);
    return "";
  }
  if (message === undefined && isObject(fields.peek(LLM)))
    notes.push(`${path} is not set, so the model would write the greeting: here it is a fixed text.`);
  return withVariables(message, path, notes);
}

/** Ids of voices are the provider, a hyphen and the name. */
function speechOf(fields: Fields, notes: string[]): JsonObject {
  const id = textOf(fields.peek("voice_id"));
  const [, provider, name] = /^([a-z\d]+)-(.+)$/i.exec(id ?? "") ?? [];
  const found = voiceFor(provider, name);
  if (found) fields.take("voice_id");
  else if (id !== undefined) {
    fields.take("voice_id");
    notes.push(noVoice("voice_id", id));
  }
  return found ?? {};
}

/** Without a sound, calls have none. */
function soundOf(fields: Fields): string {
  if (fields.peek("ambient_sound") !== "call-center") return "OFF";
  fields.take("ambient_sound");
  return "OFFICE";
}

function toolsOf(fields: Fields, notes: string[]) {
  const tools = fields.entries(`${LLM}.general_tools`);
  const ofType = (type: string) => tools.filter((path) => fields.peek(`${path}.type`) === type);
  const [ending, dialing] = [ofType("end_call"), ofType("press_digit")];
  fields.take(...[...ending, ...dialing].map((path) => `${path}.type`));
  const functions = ofType("custom")
    .filter((path) => isPost(fields, path))
    .map((path) => functionOf(fields, path, notes));
  return { functions, endCall: ending.length > 0, keypad: dialing.length > 0 };
}

/** Functions are called by POST with JSON here. `parameter_type` only chooses the editor of the parameters. */
const isPost = (fields: Fields, path: string): boolean =>
  (textOf(fields.peek(`${path}.method`)) ?? "POST") === "POST";

function functionOf(fields: Fields, path: string, notes: string[]): JsonObject {
  fields.take(`${path}.type`, `${path}.method`, `${path}.parameter_type`, `${path}.url`);
  return functionFor(fields, path, { path: `${path}.url` }, notes);
}
