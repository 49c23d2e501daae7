import type { Schemas } from "./check";
import type { Connection } from "./connection";
import type { Fields, Kind } from "./kinds";
import { readAssistants } from "./assistants";
import { readDeployments } from "./deployments";
import { readWebhooks } from "./webhooks";
import { readWorkflows } from "./workflows";

/** A record as the server has it. */
export interface RemoteRecord {
  readonly kind: Kind;
  readonly id: string;
  readonly key: string | null;
  /** From which a key is made if it has none. */
  readonly label: string;
  /** The fields of a file; a workflow has those of its graph in `graph`. */
  readonly fields: Fields;
  /** Names of the nodes of a workflow whose assistant is deleted. */
  readonly nodesWithoutAssistant?: readonly string[];
  /** Names that an assistant's MCP servers may have tools of. */
  readonly tools?: readonly string[];
  /** Number of the current version of an assistant. */
  readonly version?: number;
  /** Number of the version on which the draft of an assistant is based. */
  readonly draft?: number;
}

/** The records of an organization that files refer to by name. */
export interface Names {
  /** Ids of projects by their names, which need not be unique. */
  readonly projects: ReadonlyMap<string, readonly string[]>;
  /** Ids of connected numbers. */
  readonly numbers: ReadonlyMap<string, string>;
}

export interface Remote {
  readonly records: readonly RemoteRecord[];
  readonly names: Names;
}

/** How a server is read. */
export interface Reading {
  readonly connection: Connection;
  readonly schemas: Schemas;
  /** Names of attached files whose content matters; undefined for all. */
  readonly files?: ReadonlySet<string>;
}

/** Stands for a record that no file can name; no key has this form. */
export const WITHOUT_KEY = "(without a key)";

const NAMES = "{ projects { id name } telephonyConnections { id phoneNumber } }";

interface NamesRow {
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  readonly telephonyConnections: readonly { readonly id: string; readonly phoneNumber: string }[];
}

/** Reads all records that files can describe. @throws RequestError */
export async function readRemote(reading: Reading): Promise<Remote> {
  const { projects, telephonyConnections } = await reading.connection.graphql<NamesRow>(NAMES);
  const ids = new Map<string, string[]>();
  for (const { id, name } of projects) ids.set(name, [...(ids.get(name) ?? []), id]);
  const assistants = await readAssistants(reading, projects);
  const keys = new Map(assistants.map(({ id, key }) => [id, key ?? WITHOUT_KEY]));
  const workflows = await readWorkflows(reading, keys);
  for (const { id, key } of workflows) keys.set(id, key ?? WITHOUT_KEY);
  return {
    records: [
      ...assistants,
      ...(await readWebhooks(reading, projects)),
      ...workflows,
      ...(await readDeployments(reading, keys)),
    ],
    names: {
      projects: ids,
      numbers: new Map(telephonyConnections.map(({ id, phoneNumber }) => [phoneNumber, id])),
    },
  };
}
