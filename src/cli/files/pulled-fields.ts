import { originOf } from "../../assistants/configurations/origins";
import { Attachment, baseOf, FileText } from "./beside";
import { fieldsOfGraph, namesOfNodes, type Graph } from "./graph";
import { slugOf } from "./keys";
import {
  CHANNELS,
  isFields,
  nameOfFunction,
  Secret,
  textOf,
  withServers,
  type Fields,
  type KnowledgeFile,
} from "./kinds";
import { Expandable } from "./merge";
import type { RemoteRecord } from "./remote";
import { NamedSecret, type SecretNames } from "./secret-names";
import { isAbsolutePath } from "./write-files";

/**
 * The fields of a record as its file has them.
 * @param present those of the file, if there is one
 * @param secrets of the whole folder
 */
export function pulledFields(
  { kind, key, fields }: RemoteRecord,
  present: Fields,
  secrets: SecretNames,
): Fields {
  const name = key!; // pull gives each record a key
  if (kind === "assistant") return assistant(name, fields, present, secrets);
  if (kind === "workflow") return workflow(name, fields, present);
  if (kind === "webhook") {
    const { key, name: title, url, events, project } = fields;
    const secret = new NamedSecret(variableOf(name, "secret"), secrets);
    return { key, name: title, url: new Expandable(String(url), "url"), secret, events, project };
  }
  const { number } = fields;
  const target =
    fields.assistant === null ? withoutField(fields, "assistant") : withoutField(fields, "workflow");
  return { ...target, number: typeof number === "string" ? new Expandable(number, "number") : null };
}

const withoutField = (fields: Fields, name: string): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([one]) => one !== name));

/** Name of an environment variable that stays the same, such as FRONT_DESK_CHAT_FIND_ORDER_SECRET. */
function variableOf(...parts: readonly string[]): string {
  const name = parts
    .join("_")
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_");
  return /^\d/.test(name) ? `_${name}` : name;
}

function assistant(key: string, fields: Fields, present: Fields, secrets: SecretNames): Fields {
  const { project, missingVariables, files, rag, allowedOrigins, ...document } = fields;
  const channels = CHANNELS.map(
    (channel) =>
      [channel, channelOf(key, channel, document[channel] as Fields, present[channel], secrets)] as const,
  );
  const isDefault = missingVariables === "KEEP" && present.missingVariables === undefined;
  const isKnown = missingVariables !== undefined; // not to an older server
  return {
    key,
    name: document.name,
    description: document.description,
    project,
    variables: document.variables,
    ...(isKnown && !isDefault && { missingVariables }),
    ...document,
    ...Object.fromEntries(channels),
    rag,
    allowedOrigins: originsAs(present.allowedOrigins, allowedOrigins as readonly string[]),
    files: attachments(key, files as readonly KnowledgeFile[], present.files),
  };
}

/** Origins in the form that a file has for them. */
const originsAs = (present: unknown, origins: readonly string[]): string[] => {
  const known = (Array.isArray(present) ? present : []).map(String);
  return origins.map((origin) => known.find((one) => originOf(one) === origin) ?? origin);
};

function channelOf(
  key: string,
  channel: string,
  { prompt, resources, functions, ...fields }: Fields,
  present: unknown,
  secrets: SecretNames,
): Fields {
  const old = isFields(present) ? present : {};
  return {
    prompt: new FileText(String(prompt), `${key}/${channel}-prompt.md`, old.prompt),
    resources: new FileText(String(resources), `${key}/${channel}-resources.md`, old.resources),
    ...fields,
    functions: (functions as readonly Fields[]).map((item) =>
      functionOf(item, variableOf(key, channel, nameOfFunction(item), "secret"), secrets),
    ),
  };
}

function functionOf(item: Fields, variable: string, secrets: SecretNames): Fields {
  return withServers(item, ({ fields, url, secret }) => {
    const address = fields[url];
    return {
      ...fields,
      ...(typeof address === "string" && { [url]: new Expandable(address, url) }),
      ...(fields[secret] instanceof Secret && { [secret]: new NamedSecret(variable, secrets) }),
    };
  });
}

/**
 * A file keeps its path, even if its content has changed, and its place in the list. Others follow by name and content: the
 * order in which an assistant got its files differs between servers.
 */
function attachments(key: string, files: readonly KnowledgeFile[], present: unknown): Attachment[] {
  const known = (Array.isArray(present) ? present : []).map((entry: unknown) => {
    const { file, name = baseOf(String(file)) } = isFields(entry) ? entry : { file: entry };
    return { path: String(file), name: String(name).normalize("NFC") };
  });
  const left = known.filter(({ path }) => !isAbsolutePath(path));
  const placed = files.toSorted(byNameAndContent).map((file) => {
    const index = left.findIndex(({ name }) => name === file.name);
    const entry = index < 0 ? undefined : left.splice(index, 1)[0]!;
    const path = `${key}/files/${file.name.replaceAll(/[\\/:*?"<>|]/g, "-")}`;
    const attachment = new Attachment(file, path, entry?.path);
    return { attachment, place: entry ? known.indexOf(entry) : known.length };
  });
  return placed.sort((one, other) => one.place - other.place).map(({ attachment }) => attachment);
}

const byNameAndContent = (one: KnowledgeFile, other: KnowledgeFile): number =>
  [one.name, one.digest].join("\0") < [other.name, other.digest].join("\0") ? -1 : 1;

function workflow(key: string, { graph, ...fields }: Fields, present: Fields): Fields {
  const local = isFields(present.nodes) ? (present.nodes as Readonly<Record<string, Fields>>) : {};
  const names = namesOfNodes(graph as Graph, local);
  const { nodes, edges } = fieldsOfGraph(graph as Graph, names);
  const texts = Object.entries(nodes as Readonly<Record<string, Fields>>).map(([name, node]) => {
    const { instructions } = node;
    if (instructions === undefined) return [name, node];
    const path = `${key}/${slugOf(name, "node", new Set())}.md`;
    const text = new FileText(textOf(instructions), path, local[name]?.instructions);
    return [name, { ...node, instructions: text }];
  });
  return { ...fields, nodes: Object.fromEntries(texts), edges };
}
