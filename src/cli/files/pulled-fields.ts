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
import { Expandable, FileText, NamedSecret } from "./merge";
import type { RemoteRecord } from "./remote";
import { isAbsolutePath } from "./write-files";

/** The fields of a file, and the attached files beside it. */
export interface PulledFields {
  readonly fields: Fields;
  /** Attached files by their paths from that of the record. */
  readonly files: ReadonlyMap<string, KnowledgeFile>;
}

const NO_FILES: ReadonlyMap<string, KnowledgeFile> = new Map();

/** The fields of a record as its file has them. @param present those of the file, if there is one */
export function pulledFields({ kind, key, fields }: RemoteRecord, present: Fields): PulledFields {
  const name = key!; // pull gives each record a key
  if (kind === "assistant") return assistant(name, fields, present);
  if (kind === "workflow") return { fields: workflow(name, fields, present), files: NO_FILES };
  if (kind === "webhook") {
    const { key, name: title, url, events, project } = fields;
    const secret = new NamedSecret(variableOf(name, "secret"));
    const all = { key, name: title, url: new Expandable(String(url)), secret, events, project };
    return { fields: all, files: NO_FILES };
  }
  const { number } = fields;
  const target =
    fields.assistant === null ? withoutField(fields, "assistant") : withoutField(fields, "workflow");
  return {
    fields: { ...target, number: typeof number === "string" ? new Expandable(number) : null },
    files: NO_FILES,
  };
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

function assistant(key: string, fields: Fields, present: Fields): PulledFields {
  const { project, missingVariables, files, rag, allowedOrigins, ...document } = fields;
  const variables = new Set<string>();
  const channels = CHANNELS.map(
    (channel) => [channel, channelOf(key, channel, document[channel] as Fields, variables)] as const,
  );
  const isDefault = missingVariables === "KEEP" && present.missingVariables === undefined;
  const isKnown = missingVariables !== undefined; // not to an older server
  const entries = fileEntries(key, files as readonly KnowledgeFile[], present.files);
  return {
    fields: {
      key,
      name: document.name,
      description: document.description,
      project,
      variables: document.variables,
      ...(isKnown && !isDefault && { missingVariables }),
      ...document,
      ...Object.fromEntries(channels),
      rag,
      allowedOrigins,
      files: entries.map(({ entry }) => entry),
    },
    files: new Map(entries.map(({ path, file }) => [path, file])),
  };
}

function channelOf(
  key: string,
  channel: string,
  { prompt, resources, functions, ...fields }: Fields,
  variables: Set<string>,
): Fields {
  return {
    prompt: new FileText(String(prompt), `${key}/${channel}-prompt.md`),
    resources: new FileText(String(resources), `${key}/${channel}-resources.md`),
    ...fields,
    functions: (functions as readonly Fields[]).map((item) =>
      functionOf(item, variableOf(key, channel, nameOfFunction(item), "secret"), variables),
    ),
  };
}

/** @param variables of the secrets before it, each of which has its own */
function functionOf(item: Fields, variable: string, variables: Set<string>): Fields {
  return withServers(item, ({ fields, url, secret }) => {
    const address = fields[url];
    return {
      ...fields,
      ...(typeof address === "string" && { [url]: new Expandable(address) }),
      ...(fields[secret] instanceof Secret && { [secret]: new NamedSecret(free(variable, variables)) }),
    };
  });
}

function free(variable: string, taken: Set<string>): string {
  let name = variable;
  for (let number = 2; taken.has(name); number++) name = `${variable}_${number}`;
  taken.add(name);
  return name;
}

interface FileEntry {
  readonly path: string;
  readonly file: KnowledgeFile;
  readonly entry: string | Fields;
}

/** A file keeps its path, even if its content has changed. */
function fileEntries(key: string, files: readonly KnowledgeFile[], present: unknown): FileEntry[] {
  const entries = (Array.isArray(present) ? present : []).map((entry: unknown) => {
    const { file, name = baseOf(String(file)) } = isFields(entry) ? entry : { file: entry };
    return { path: String(file), name: String(name) };
  });
  const known = entries.filter(({ path }) => !isAbsolutePath(path));
  const taken = new Set(known.map(({ path }) => path.toLowerCase()));
  return files.map((file) => {
    const index = known.findIndex(({ name }) => name === file.name);
    const path = index < 0 ? freePath(`${key}/files`, file.name, taken) : known.splice(index, 1)[0]!.path;
    taken.add(path.toLowerCase());
    return { path, file, entry: baseOf(path) === file.name ? path : { file: path, name: file.name } };
  });
}

const baseOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** A path that no other file has, not even on a file system that ignores case. */
function freePath(folder: string, name: string, taken: ReadonlySet<string>): string {
  const [, stem, extension] = /^(.*?)(\.[^.]+)?$/s.exec(name.replaceAll(/[\\/:*?"<>|]/g, "-"))!;
  for (let number = 1; ; number++) {
    const path = `${folder}/${stem}${number === 1 ? "" : `-${number}`}${extension ?? ""}`;
    if (!taken.has(path.toLowerCase())) return path;
  }
}

function workflow(key: string, { graph, ...fields }: Fields, present: Fields): Fields {
  const local = isFields(present.nodes) ? (present.nodes as Readonly<Record<string, Fields>>) : {};
  const names = namesOfNodes(graph as Graph, local);
  const { nodes, edges } = fieldsOfGraph(graph as Graph, names);
  const texts = Object.entries(nodes as Readonly<Record<string, Fields>>).map(([name, node]) => {
    const { instructions } = node;
    const path = `${key}/${slugOf(name, "node", new Set())}.md`;
    return [
      name,
      instructions === undefined ? node : { ...node, instructions: new FileText(textOf(instructions), path) },
    ];
  });
  return { ...fields, nodes: Object.fromEntries(texts), edges };
}
