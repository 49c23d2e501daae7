import { readFileSync } from "node:fs";
import { z } from "zod";
import contract from "./catalog.json";
import { mistake } from "../mistake";

export const CHANNELS = ["VOICE", "TEXT", "SMS"] as const;
/** A channel of conversation: voice, text chat or SMS. */
export type Channel = (typeof CHANNELS)[number];

const REASONING = ["none", "low", "medium", "high"] as const;

const NAME = /^(?!__)(?!(?:true|false|null)$)[A-Za-z0-9_]+$/;
const id = z
  .string()
  .regex(NAME, "must consist of letters, digits and _")
  .describe("Identifier in configurations. One that begins with a digit is written there with _ before it.");
const channels = z
  .array(z.enum(CHANNELS))
  .min(1)
  .describe("Channels for which it can be chosen; all if absent.");

const date = z.iso.date();
const Succession = z.strictObject({
  model: z.string().min(1),
  withdrawn: date.optional(),
  source: z.url({ protocol: /^https?$/ }),
  checked: date,
});

const Entries = z.strictObject({
  providers: z.array(z.strictObject({ id, channels: channels.optional() })).optional(),
  models: z
    .array(
      z.strictObject({
        id,
        provider: id.optional(),
        model: z.string().min(1).optional().describe("The server's own name of the model."),
        baseUrl: z
          .url({ protocol: /^https?$/, error: "must be an http or https URL" })
          .optional()
          .describe("Base URL of an OpenAI-compatible server, if it is not the provider's."),
        channels: channels.optional(),
        reasoning: z
          .enum(REASONING)
          .optional()
          .describe("How long the model may reason before it answers; the provider's default if absent."),
        succeeds: Succession.optional(),
        successor: Succession.optional(),
      }),
    )
    .optional(),
  speechProviders: z.array(z.strictObject({ id })).optional(),
  voices: z
    .array(
      z.strictObject({
        id,
        provider: id.optional(),
        voiceId: z
          .string()
          .min(1)
          .optional()
          .describe("The vendor's own id of the voice, if it is not the id."),
      }),
    )
    .optional(),
});

/** JSON Schema of CATALOG_FILE. */
export const catalogJsonSchema = (): object => z.toJSONSchema(Entries, { io: "input" });

/** A change of models at a vendor, as the vendor announced it. */
export type Succession = z.infer<typeof Succession>;

/** A vendor of text models and the channels for which it can be chosen. */
export interface ProviderEntry {
  readonly id: string;
  readonly channels: readonly Channel[];
}
/** A text model: its public identifier, its vendor, the vendor's name for it, and a base URL if it is not the vendor's own. */
export interface ModelEntry extends ProviderEntry {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string;
  /** Where the name of the model was set; the built-in catalog if absent. */
  readonly namedBy?: ModelSource;
  /** Reasoning effort before the answer; the vendor's default if absent. */
  readonly reasoning?: (typeof REASONING)[number];
  /** The withdrawn model that this one succeeds. */
  readonly succeeds?: Succession;
  /** The model that the vendor names as the successor of this one, which it is going to withdraw. */
  readonly successor?: Succession;
}
/** A place, other than the built-in catalog, where the name of a model was set. */
export type ModelSource = "setModelMapping" | "MODEL_NAME" | "CATALOG_FILE" | "--model";

export interface VoiceEntry {
  readonly id: string;
  readonly provider: string;
  /** The vendor's own id of the voice, if it is not the id. */
  readonly voiceId?: string;
}
/** All identifiers that configurations may use, in the order of the API contract. */
export interface Catalog {
  readonly providers: readonly ProviderEntry[];
  readonly models: readonly ModelEntry[];
  readonly speechProviders: readonly { readonly id: string }[];
  readonly voices: readonly VoiceEntry[];
}

type Kind = keyof Catalog;
const KINDS = ["providers", "models", "speechProviders", "voices"] as const satisfies readonly Kind[];

/** Identifiers of the entries available for a channel, in order. */
export const idsFor = (entries: readonly ProviderEntry[], channel: Channel): string[] =>
  entries.filter((entry) => entry.channels.includes(channel)).map((entry) => entry.id);

/**
 * The built-in catalog, overlaid with the entries of `file` (CATALOG_FILE): an entry with a known id changes that entry,
 * a new id is appended.
 * @throws Error with one line for each invalid entry
 */
export function loadCatalog(file?: string): Catalog {
  const base = contract as Catalog;
  if (file === undefined) return base;
  const fail = (lines: string[]): never => {
    throw mistake(
      new Error(`CATALOG_FILE ${file} is invalid:\n${lines.map((line) => `  - ${line}`).join("\n")}`),
    );
  };
  const json = readJson(file, (line) => fail([line]));
  const parsed = Entries.safeParse(json);
  if (!parsed.success)
    return fail(
      parsed.error.issues.map((issue) => `${entryName(json, issue.path)}: ${inPlainWords(issue.message)}`),
    );
  const problems: string[] = [];
  const merged = Object.fromEntries(
    KINDS.map((kind) => [kind, overlay(kind, base[kind], named(kind, parsed.data[kind]), problems)]),
  ) as unknown as Catalog; // overlay keeps each kind's own shape; fromEntries forgets it
  problems.push(...problemsOf(merged));
  return problems.length > 0 ? fail(problems) : merged;
}

/**
 * Gives entries whose id begins with a digit a name that GraphQL allows. A voice keeps the id as the vendor's own, and
 * refers to providers by their names.
 */
function named<E extends { readonly id: string; readonly provider?: string | undefined }>(
  kind: Kind,
  entries: readonly E[] = [],
): E[] {
  const nameOf = (id: string) => (/^\d/.test(id) ? `_${id}` : id);
  return entries.map((entry) => ({
    ...(kind === "voices" && nameOf(entry.id) !== entry.id && { voiceId: entry.id }),
    ...entry,
    id: nameOf(entry.id),
    ...(entry.provider !== undefined && { provider: nameOf(entry.provider) }),
  }));
}

function readJson(file: string, fail: (line: string) => never): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return fail("The file does not exist.");
    return fail(
      error instanceof SyntaxError ? `It is not JSON: ${message}` : `It cannot be read: ${message}`,
    );
  }
}

/** Zod's messages about types, which begin with "Invalid input", in the form of ours. */
const inPlainWords = (message: string): string =>
  message.replace(/^Invalid input: expected (\w+), received (\w+)$/, "must be of type $1; got $2");

function overlay(
  kind: Kind,
  base: readonly { id: string }[],
  entries: readonly { id: string }[],
  problems: string[],
) {
  const merged = new Map(base.map((entry) => [entry.id, entry]));
  const seen = new Set<string>();
  entries.forEach((entry, index) => {
    if (seen.has(entry.id)) problems.push(`${kind}[${index}] (${entry.id}): is in the file twice`);
    seen.add(entry.id);
    merged.set(entry.id, {
      ...(kind === "providers" || kind === "models" ? { channels: CHANNELS } : {}),
      ...withoutModel(merged.get(entry.id), entry),
      ...entry,
      ...("model" in entry && kind === "models" && { namedBy: "CATALOG_FILE" }),
    });
  });
  return [...merged.values()];
}

/** An entry without the details of its model, if another model replaces it. */
function withoutModel(base: object = {}, entry: { readonly id: string; readonly model?: string }): object {
  if (entry.model === undefined) return base;
  const { reasoning, succeeds, successor, ...rest } = base as Partial<ModelEntry>;
  return rest;
}

/** Missing fields of new entries, references to unknown providers, and channels without an entry. */
function problemsOf({ providers, models, speechProviders, voices }: Catalog): string[] {
  const problems: string[] = [];
  const known = (entries: readonly { id: string }[], name: string | undefined) =>
    entries.some(({ id }) => id === name);
  for (const { id, provider, model } of models) {
    if (!model) problems.push(`models (${id}): model, the vendor's name for it, is missing`);
    if (!known(providers, provider))
      problems.push(
        `models (${id}): provider ${provider ?? "is missing"}${provider ? " is not among providers" : ""}`,
      );
  }
  for (const channel of CHANNELS)
    for (const [kind, entries] of Object.entries({ providers, models }))
      if (idsFor(entries, channel).length === 0) problems.push(`${kind}: at least one must allow ${channel}`);
  for (const { id, provider } of voices)
    if (!known(speechProviders, provider))
      problems.push(
        `voices (${id}): provider ${provider ?? "is missing"}${provider ? " is not among speechProviders" : ""}`,
      );
  return problems;
}

/** Path of an entry with its id, such as `models[3] (GPT_4_TURBO).provider`. */
function entryName(json: unknown, path: readonly PropertyKey[]): string {
  const [kind, index, ...rest] = path;
  if (kind === undefined) return "the file";
  if (typeof index !== "number") return String(kind);
  const entry = (json as Record<string, { id?: unknown }[]>)[String(kind)]?.[index];
  const name = typeof entry?.id === "string" ? ` (${entry.id})` : "";
  return `${String(kind)}[${index}]${name}${rest.map((part) => `.${String(part)}`).join("")}`;
}
