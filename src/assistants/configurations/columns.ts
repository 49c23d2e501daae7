import { columnsExcept } from "../../platform/database/rows";
import type { ConfigurationKind } from "./configurations";

/** Columns of every configuration that are no fields of it. */
const HIDDEN = ["organizationId", "assistantId", "updatedAt"] as const;

/** Columns that are fields of each kind of configuration. */
export const COLUMNS: Readonly<Record<ConfigurationKind, readonly string[]>> = {
  voice: columnsExcept("voice_configurations", ...HIDDEN),
  sms: columnsExcept("sms_configurations", ...HIDDEN),
  chat: columnsExcept("chat_configurations", ...HIDDEN),
  theme: columnsExcept("theme_configurations", ...HIDDEN),
};

/** Some columns of a kind, and what a loader of them is called. */
export interface Cut {
  readonly name: string;
  readonly columns: readonly string[];
  /** The name of a prepared statement; of rare cuts none. */
  readonly key: string | undefined;
}

/** Cuts that have a prepared statement: PostgreSQL keeps each as long as a connection is open. */
const MOST_KEYS = 100;
const keys = new Map<string, string>();
const cuts: Readonly<Record<ConfigurationKind, WeakMap<readonly string[], Cut>>> = {
  voice: new WeakMap(),
  sms: new WeakMap(),
  chat: new WeakMap(),
  theme: new WeakMap(),
};

/** The columns of a kind that `wanted` names, found once for each list of names; other names in it are passed over. */
export function cutOf(kind: ConfigurationKind, wanted: readonly string[]): Cut {
  const known = cuts[kind].get(wanted);
  if (known) return known;
  const columns = COLUMNS[kind].filter((column) => wanted.includes(column));
  const name = `configurations.${kind}: ${columns.join()}`;
  if (!keys.has(name) && keys.size < MOST_KEYS) keys.set(name, `configurations.${keys.size}`);
  const cut = { name, columns, key: keys.get(name) };
  cuts[kind].set(wanted, cut);
  return cut;
}
