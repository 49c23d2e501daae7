import type { JsonObject } from "../../platform/json/json-object";
import { isNested } from "../../assistants/configurations/functions";
import { RefusedError } from "./http";
import { timeOf, timesIn } from "./log-of";
import { readUntilEqual } from "./read-until-equal";
import { isObject, objectsIn, required, textOf } from "./source";
import { notesOfGaps, selectionOf, type FieldsByKind } from "./vendor-gaps";
import { defined, type Import } from "./work";

const TEXT = [
  "initialMessage",
  "prompt",
  "resources",
  "provider",
  "model",
  "temperature",
  "maxTokensOutput",
  "functions",
];
const RAG = ["isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult"];
/** The fields of each configuration. */
const FIELDS: FieldsByKind = {
  voice: [
    ...TEXT,
    ...["voiceProvider", "voice", "backgroundSound", "backchanneling", "endCallFunction"],
    ...["dialKeypadFunction", "endCallMessage", "endCallPhrases"],
  ],
  sms: [...TEXT, "smsMode", "voiceCallMode", "keywords"],
  chat: [...TEXT, "chatMode", "quickRepliesEnabled"],
  theme: ["theme", "mode"],
};
const STORE = `mutation ImportAssistant($input: ImportAssistantInput!) {
  importAssistant(input: $input) { id ${selectionOf(FIELDS)} } }`;
const KNOWN = ["id", "name", "description", "variables", "template", "createdAt", "updatedAt"];

/** Imports all assistants with their configurations. @returns their ids, oldest first */
export async function importAssistants(work: Import): Promise<string[]> {
  const { source, target, report, progress } = work;
  const all = await required(async () => {
    const found: JsonObject[] = [];
    for await (const one of source.list("/rest/v1/assistants", "assistant", report)) found.push(one);
    return found;
  });
  const times = timesInIds(all);
  const known = await target.assistantIds();
  const imported: string[] = [];
  for (const [index, assistant] of all.entries()) {
    const id = textOf(assistant.id) ?? "";
    const given = defined({ createdAt: times?.[index], ...timesIn(assistant) });
    const input = { ...(await inputOf(work, id, assistant)), ...given };
    if (given.createdAt === undefined)
      report.note("Creation times of assistants: they are in the same order, but were created now.");
    if (given.updatedAt === undefined)
      report.note("Times of the last changes of assistants: the source does not show them.");
    const answer = await target.store("assistant", id, STORE, { input });
    if (answer) {
      report[known.has(id) ? "unchanged" : "stored"]("assistants");
      for (const note of notesOf(input, answer.importAssistant as JsonObject)) report.note(note, id);
      imported.push(id);
    }
    progress(`Assistants: ${index + 1} of ${all.length}`);
  }
  return imported;
}

async function inputOf(work: Import, id: string, assistant: JsonObject): Promise<JsonObject> {
  const { name, description, variables } = assistant;
  noteOthers(work, "assistants", assistant, KNOWN, id);
  const input: JsonObject = { id, name: textOf(name) ?? "", description: description ?? null };
  input.variables = isObject(variables) ? variables : null;
  if (variables != null && !isObject(variables))
    work.report.note("variables of this assistant is no object: it is left out.", id);
  const { value: given, isWhole } = await readUntilEqual(() => configurationsOf(work, id));
  if (!isWhole) work.report.note(CHANGING, id);
  for (const [kind, one] of given)
    if (isObject(one)) Object.assign(input, partOf(work, id, kind, one));
    else work.report.refuse(`The ${kind} configuration was not read: ${one}`, id);
  return input;
}

const CHANGING =
  "This assistant changed each time it was read, so its configurations may be of several moments.";

/** The configurations of an assistant by their kinds; the reason for one that the source refuses. */
async function configurationsOf(
  { source }: Import,
  id: string,
): Promise<(readonly [string, JsonObject | string])[]> {
  const found: (readonly [string, JsonObject | string])[] = [];
  for (const kind of Object.keys(FIELDS)) {
    const given = source.object(`/rest/v1/assistants/${encodeURIComponent(id)}/${kind}`);
    const answer = await given.catch((error: unknown) => {
      if (error instanceof RefusedError) return error.message;
      throw error;
    });
    found.push([kind, answer]);
  }
  return found;
}

function partOf(work: Import, id: string, kind: string, given: JsonObject): JsonObject {
  const rag = kind === "theme" ? {} : picked(given, RAG);
  noteOthers(work, `${kind} configurations`, given, [...FIELDS[kind]!, ...RAG], id);
  return {
    [kind]: picked(given, FIELDS[kind]!),
    ...(Object.keys(rag).length > 0 && { [`${kind}Rag`]: rag }),
  };
}

/** Sentences about fields that the source has no value for, and about secrets that no request could carry. */
function notesOf(input: JsonObject, stored: JsonObject): string[] {
  const read = Object.fromEntries(Object.entries(FIELDS).filter(([kind]) => input[kind] !== undefined));
  const secrets = Object.keys(read).flatMap((kind) =>
    objectsIn((input[kind] as JsonObject).functions).flatMap((item, index) =>
      hasOtherSecret(item)
        ? [`${kind}.functions.${index} has a secret that is no text: the function is called without one.`]
        : [],
    ),
  );
  return [...notesOfGaps(input, stored, read, (value) => !isEmpty(value)), ...secrets];
}

function hasOtherSecret(item: JsonObject): boolean {
  const server = isObject(item.server) ? item.server : {};
  const secret = isNested(item) ? server.secret : item.secretKey;
  return secret != null && typeof secret !== "string";
}

/** Whether a value means that there is none, so that a source without one loses nothing. */
const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? Object.keys(value).length === 0
    : value === undefined || value === null || value === "" || value === false;

/** The given fields, without those that are null: all of them have a value here. */
const picked = (value: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (value[name] == null ? [] : [[name, value[name]]])));

function noteOthers(
  { report }: Import,
  where: string,
  value: JsonObject,
  known: readonly string[],
  id: string,
) {
  for (const name of Object.keys(value))
    if (!known.includes(name)) report.note(`The field ${name} of ${where} has no place here.`, id);
}

/** UUIDs of version 7 begin with the time of their creation in milliseconds. */
const UUID_7 = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** Creation times in the ids; undefined if an id has none, or if they contradict the order of the list. */
function timesInIds(assistants: readonly JsonObject[]): string[] | undefined {
  const times = assistants.map(({ id }) => {
    const [, high, low] = UUID_7.exec(textOf(id) ?? "") ?? [];
    return high === undefined ? undefined : timeOf(parseInt(high + low!, 16));
  });
  const isOrdered = times.every(
    (time, index) => time !== undefined && (index === 0 || times[index - 1]! <= time),
  );
  return isOrdered ? (times as string[]) : undefined;
}
