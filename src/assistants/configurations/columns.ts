import type { Knex } from "knex";
import { columnsExcept } from "../../platform/database/rows";
import { Statement } from "../../platform/database/statement";
import type { Kinds } from "./configurations";

/** The configurations of an assistant and their tables. */
export const CONFIGURATIONS = {
  voice: "voice_configurations",
  sms: "sms_configurations",
  chat: "chat_configurations",
  theme: "theme_configurations",
} as const;
export type ConfigurationKind = keyof typeof CONFIGURATIONS;

/** Columns of every configuration that are no fields of it. */
const HIDDEN = ["organizationId", "assistantId", "updatedAt"] as const;

/** Columns that are fields of each kind of configuration. */
export const COLUMNS: Readonly<Record<ConfigurationKind, readonly string[]>> = {
  voice: columnsExcept("voice_configurations", ...HIDDEN),
  sms: columnsExcept("sms_configurations", ...HIDDEN),
  chat: columnsExcept("chat_configurations", ...HIDDEN),
  theme: columnsExcept("theme_configurations", ...HIDDEN),
};

/** Some columns of a kind of configuration, with the statement that reads them. */
export interface Cut<K extends ConfigurationKind> {
  /** Names the loader of these columns. */
  readonly name: string;
  readonly rows: Statement<Kinds[K] & { readonly assistantId: string }>;
}

/** Cuts with a prepared statement: clients choose among many, and PostgreSQL keeps each as long as a connection is open. */
const MAX_PREPARED = 100;
let preparedCount = 0;

/** The known cuts of a kind. */
class Cuts<K extends ConfigurationKind> {
  private readonly byWanted = new WeakMap<readonly string[], Cut<K>>();
  private readonly prepared = new Map<string, Cut<K>>();

  constructor(private readonly kind: K) {}

  of(wanted: readonly string[]): Cut<K> {
    const known = this.byWanted.get(wanted);
    if (known) return known;
    const columns = COLUMNS[this.kind].filter((column) => wanted.includes(column));
    const name = `configurations.${this.kind}: ${columns.join()}`;
    const cut = this.prepared.get(name) ?? this.make(name, columns);
    this.byWanted.set(wanted, cut);
    return cut;
  }

  private make(name: string, columns: readonly string[]): Cut<K> {
    const isPrepared = preparedCount < MAX_PREPARED;
    const rows = new Statement<Kinds[K] & { assistantId: string }>(
      ({ table, $, db }) => {
        const configurations: Knex.QueryBuilder = table(CONFIGURATIONS[this.kind]);
        return configurations
          .select("assistantId", ...columns)
          .where("assistantId", db.raw("any(?::text[])", [$(1)]));
      },
      { isPrepared },
    );
    const cut = { name, rows };
    if (isPrepared) {
      preparedCount++;
      this.prepared.set(name, cut);
    }
    return cut;
  }
}

const CUTS: { readonly [K in ConfigurationKind]: Cuts<K> } = {
  voice: new Cuts("voice"),
  sms: new Cuts("sms"),
  chat: new Cuts("chat"),
  theme: new Cuts("theme"),
};

/** The columns of a kind that `wanted` names, found once for each list of names; other names in it are passed over. */
export const cutOf = <K extends ConfigurationKind>(kind: K, wanted: readonly string[]): Cut<K> =>
  CUTS[kind].of(wanted);
