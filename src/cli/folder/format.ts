import type { JsonObject } from "../../platform/json/json-object";

export const FORMAT = "parley-export";
/** Increases when a reader of the former version would misread the files. A new optional field does not increase it. */
export const FORMAT_VERSION = 1;

export const MANIFEST = "manifest.json";
export const REPORT = "report.json";
/** Exists while an export is not complete. */
export const STATE = "export-state.json";
/** Folder of the contents of files. */
export const CONTENTS = "files";

/** The files with records, in the order of the export, by the plural of what they hold. */
export const PARTS = {
  organization: "organization.ndjson",
  "telephony connections": "telephony-connections.ndjson",
  deployments: "deployments.ndjson",
  workflows: "workflows.ndjson",
  assistants: "assistants.ndjson",
  versions: "versions.ndjson",
  projects: "projects.ndjson",
  "webhook destinations": "webhook-destinations.ndjson",
  "API keys": "keys.ndjson",
  files: "files.ndjson",
  logs: "logs.ndjson",
  "end users": "end-users.ndjson",
} as const;
export type Part = keyof typeof PARTS;
export const PART_NAMES = Object.keys(PARTS) as Part[];

/** A record: one line of a file. */
export type Line = JsonObject;

export interface PartEntry {
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Manifest {
  readonly format: typeof FORMAT;
  readonly formatVersion: number;
  readonly organizationId: string;
  readonly source: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Whether the key could read everything. */
  readonly complete: boolean;
  /** By the names of files. A part that could not be read is missing. */
  readonly files: Readonly<Record<string, PartEntry>>;
}

/** A sentence about what the folder lacks, with the ids of the records that it is about. */
export interface Gap {
  readonly reason: string;
  readonly ids: readonly string[];
}

/** What no operation shows, so that no export contains it. */
export const NEVER_SHOWN = [
  "Credentials of models and mappings, tokens of telephony connections, and headers of tool servers: enter them again.",
  "Secrets of functions that only earlier versions and drafts have.",
  "The secret that signs the ids of visitors: the other organization has its own.",
  "The end of a person's last conversation, which the next one continues.",
  "Bearer tokens, sessions of visitors, and the values of keys that the key of the export may not see.",
  "Past events and deliveries, the audit log, erasures, and exports of people: see docs/export.md.",
  "Recordings of calls: logs name their addresses.",
];
