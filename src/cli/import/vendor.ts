import { loadCatalog, type Catalog } from "../../platform/catalog/load-catalog";
import { listed, namesIn, PLACEHOLDER, shortened } from "../../assistants/configurations/variable-names";
import type { JsonObject } from "../../platform/json/json-object";
import type { Fields } from "./fields";
import { jsonIn } from "./json-file";
import { isObject, textOf, type Source } from "./source";
import { defined, type Import } from "./work";

/** The import of assistants from a vendor: by its interface or from a file. */
export interface VendorImport extends Pick<Import, "target" | "report" | "progress"> {
  readonly source?: Source;
  readonly file?: string;
}

/** A vendor, and how to recognize its assistants in a file. */
export interface Vendor {
  readonly name: string;
  /** Variables that the vendor sets itself, by their names. */
  readonly sets: RegExp;
  /** The vendor's word for an assistant. */
  readonly noun: string;
  /** Field of the id. */
  readonly id: string;
  /** Names of the lists that a file may have. */
  readonly lists: readonly string[];
  /** Fields of which each assistant has at least one, and no assistant of another vendor. */
  readonly fields: readonly string[];
  /** Fields of the vendor's other records, such as calls, which no assistant has. */
  readonly others: readonly string[];
}

export const nounOf = ({ name, noun }: Vendor): string => `${noun} of ${name}`;
export const isOf = ({ fields, others }: Vendor, entry: JsonObject): boolean =>
  fields.some((name) => name in entry) && !others.some((name) => name in entry);

/** An assistant of a vendor as an input of `importAssistant`. */
export interface Mapped {
  readonly input: JsonObject;
  /** Sentences about fields of the vendor that the input lacks, most of which begin with their paths. */
  readonly notes: readonly string[];
  /** Sentences about both sides. */
  readonly remarks: readonly string[];
}

/** The temperature of a model: at the vendors, that of a model without one is 0. */
export function temperatureOf(fields: Fields, model: string, name: string): number | undefined {
  const isUnset = isObject(fields.peek(model)) && fields.peek(`${model}.${name}`) === undefined;
  return isUnset ? 0 : fields.number(`${model}.${name}`);
}

type ReasonOf = (fields: Fields, path: string) => string;

/** Reasons why a field has no place here, by its path. */
export type Reasons = readonly (readonly [path: RegExp, reason: string | ReasonOf])[];

/** The entries of a file: one object, a list, or an object with a list. @throws Error if none is of the vendor */
export function entriesInFile(file: string, vendor: Vendor): unknown[] {
  const content = jsonIn(file);
  const list = vendor.lists
    .map((name) => (isObject(content) ? content[name] : undefined))
    .find(Array.isArray);
  const found: unknown[] = list ?? [content].flat();
  if (!found.some((one) => isObject(one) && isOf(vendor, one)))
    throw new Error(`The file ${file} contains no ${nounOf(vendor)}.`);
  return found;
}

/** Sentences about the fields that were not taken. */
export const notesOf = (fields: Fields, reasons: Reasons): string[] =>
  fields.rest().map((path) => {
    const [, reason = "has no counterpart"] = reasons.find(([pattern]) => pattern.test(path)) ?? [];
    return `${path} ${typeof reason === "string" ? reason : reason(fields, path)}.`;
  });

/** Types of tools that only their names tell apart. */
const FUNCTIONS = new Set(["function", "custom"]);

/** The reason for a field of a tool, which it names by its type. @param list path of the tools */
export const ofTool =
  (list: string): ReasonOf =>
  (fields, path) => {
    const tool = `${list}.${path.slice(list.length + 1).split(".", 1)[0]}`;
    const [type, ...names] = ["type", "name", "function.name"].map((field) =>
      textOf(fields.peek(`${tool}.${field}`)),
    );
    const name = names.find((one) => one !== undefined);
    const shown = shortened((type === undefined || FUNCTIONS.has(type) ? name : type) ?? "without a name");
    if (type === "mcp")
      return "belongs to a tool server: add it with updateToolServers, see docs/functions.md";
    return fields.isTaken(`${tool}.type`)
      ? `is a part of the tool ${shown} without a counterpart`
      : `belongs to the tool ${shown}, which has no counterpart`;
  };

/** A variable as the vendors write it, with a name that is one here. */
const VARIABLE = /\{\{\s*([\p{L}_][\p{L}\p{M}\p{N}_.]*)\s*\}\}/gu;
/** Other parts of a text that the vendors fill in. */
export const EXPRESSION = /\{\{[^{}]*\}\}|\{%[^{}%]*%\}/g;

/** A text with variables as they are written here: `{name}` instead of `{{name}}`. */
export function withVariables(text: string | undefined, path: string, notes: string[]): string | undefined {
  const converted = text?.replace(VARIABLE, "{$1}");
  const literal = [...new Set(inSingleBraces(text ?? ""))];
  if (literal.length > 0)
    notes.push(
      `${path} contains ${listed(literal.map(shortened))} in single braces, which is a variable here: rewrite it if it is meant as it is written.`,
    );
  const others = [...new Set(converted?.match(EXPRESSION))].map(shortened);
  if (converted?.includes("{{") || converted?.includes("{%"))
    notes.push(
      `${path} contains ${listed(others) || "{{ or {%"}, which is no plain variable: it stays as written.`,
    );
  return converted;
}

/** Sentences about requests to functions, and about variables that the vendor sets itself, which have no value here. */
export function remarksOn(input: JsonObject, functions: readonly JsonObject[], vendor: Vendor): string[] {
  const given = new Set(Object.keys(Object(input.variables) as object));
  const used = namesIn(JSON.stringify(input));
  const names = new Set(used.filter((name) => vendor.sets.test(name) && !given.has(name)));
  const shown = listed([...names].map((name) => `{${shortened(name)}}`));
  return [
    ...(functions.some(({ server }) => server !== undefined) ? [OTHER_REQUESTS] : []),
    ...(names.size > 0
      ? [
          `${vendor.name} sets ${shown} itself. Here, give a value in \`variables\` of the assistant or the conversation, or rewrite the text.`,
        ]
      : []),
  ];
}

/** Parts of a text that are variables here, but not in the vendor's text. */
const inSingleBraces = (text: string): string[] =>
  [...text.matchAll(PLACEHOLDER)].filter(({ index }) => text[index - 1] !== "{").map(([whole]) => whole);

let catalog: Catalog | undefined;
const known = (): Catalog => (catalog ??= loadCatalog());

/** Names of versions end with a date or a number of four digits, and may have a region after it. */
const withoutDate = (name: string) => name.replace(/-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4})(:\w+)?$/, "");

/** Fields of the model for each channel that has it; notes a model that the catalog does not know. */
export function modelFor(
  name: string | undefined,
  path: string,
  notes: string[],
): Readonly<Record<string, JsonObject>> {
  if (name === undefined) {
    notes.push(`${path} is not set: the assistant has the model of this server.`);
    return {};
  }
  const found = known().models.find(
    ({ model, succeeds }) => withoutDate(succeeds?.model ?? model) === withoutDate(name),
  );
  if (!found) {
    notes.push(
      `${path} is "${name}", for which the catalog has no identifier: the assistant has the model of this server. See docs/models.md.`,
    );
    return {};
  }
  const fields = { model: found.id, provider: found.provider };
  const missing = (["SMS", "TEXT"] as const).filter((channel) => !found.channels.includes(channel));
  if (missing.length > 0)
    notes.push(
      `${path} is "${name}", which exists for calls only: chats and SMS have the model of this server.`,
    );
  return {
    voice: fields,
    ...(!missing.includes("SMS") && { sms: fields }),
    ...(!missing.includes("TEXT") && { chat: fields }),
  };
}

const SPEECH: Readonly<Record<string, string>> = {
  ...{ "11labs": "ELEVENLABS", elevenlabs: "ELEVENLABS", openai: "OPENAI", playht: "PLAYHT", play: "PLAYHT" },
};

/** Fields of the voice; undefined if it does not exist here. */
export function voiceFor(provider: string | undefined, voice: string | undefined): JsonObject | undefined {
  const voiceProvider = SPEECH[provider?.toLowerCase() ?? ""];
  const id = voice?.toLowerCase();
  return voiceProvider !== undefined && known().voices.some((one) => one.id === id)
    ? { voiceProvider, voice: id }
    : undefined;
}

/** Reasons for fields that no assistant has here. */
export const OF_VENDOR = "belongs to the vendor's record and is not part of an assistant";
export const OF_ENGINE = "belongs to the voice engine, whose own setting applies";

const OTHER_REQUESTS =
  "Servers of functions get requests in another form here, with the secret in the header x-ck: see docs/functions.md.";

/** The configurations of the three channels: the same texts and functions, so that all answer alike. */
export function configurationsOf(
  shared: JsonObject,
  voice: JsonObject,
  models: Readonly<Record<string, JsonObject>>,
): JsonObject {
  const { initialMessage, prompt, temperature, maxTokensOutput, functions } = shared;
  const common = defined({ initialMessage, prompt, temperature, maxTokensOutput, functions });
  return {
    voice: defined({ ...common, ...models.voice, ...voice }),
    sms: { ...common, ...models.sms },
    chat: { ...common, ...models.chat },
  };
}
