import type { Knex } from "knex";
import { columnsExcept } from "../../platform/database/tables/rows";
import { Statement } from "../../platform/database/statement";
import { StatementFamily } from "../../platform/database/statement-family";
import type { Kinds } from "./configurations";

/** The configurations of an assistant and their tables. */
export const CONFIGURATIONS = {
  voice: "voice_configurations",
  sms: "sms_configurations",
  chat: "chat_configurations",
  theme: "theme_configurations",
} as const;
export type ConfigurationKind = keyof typeof CONFIGURATIONS;

/** Columns of configurations that are not fields. */
const HIDDEN = ["organizationId", "assistantId", "updatedAt"] as const;

/** Fields of each kind of configuration. */
export const COLUMNS: Readonly<Record<ConfigurationKind, readonly string[]>> = {
  voice: columnsExcept("voice_configurations", ...HIDDEN),
  sms: columnsExcept("sms_configurations", ...HIDDEN),
  chat: columnsExcept("chat_configurations", ...HIDDEN),
  theme: columnsExcept("theme_configurations", ...HIDDEN),
};

/** Fields of a channel's configuration that decide how it searches the knowledge. */
export const RAG_SETTINGS = ["isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult"] as const;

export const isOfRag = (field: string): boolean => (RAG_SETTINGS as readonly string[]).includes(field);

/** A statement that reads some columns of a kind of configuration. */
export interface Projection<K extends ConfigurationKind> {
  /** Name of the loader for these columns. */
  readonly name: string;
  readonly rows: Statement<Kinds[K] & { readonly assistantId: string }>;
}

/** The projections of a kind of configuration. */
class Projections<K extends ConfigurationKind> {
  private readonly byFields = new WeakMap<readonly string[], Projection<K>>();
  private readonly family = new StatementFamily((columns, isPrepared) => this.create(columns, isPrepared));

  constructor(private readonly kind: K) {}

  of(fields: readonly string[]): Projection<K> {
    const known = this.byFields.get(fields);
    if (known) return known;
    const columns = COLUMNS[this.kind].filter((column) => fields.includes(column));
    const projection = this.family.of(columns);
    this.byFields.set(fields, projection);
    return projection;
  }

  private create(columns: readonly string[], isPrepared: boolean): Projection<K> {
    const rows = new Statement<Kinds[K] & { assistantId: string }>(
      ({ table, $, db }) => {
        const configurations: Knex.QueryBuilder = table(CONFIGURATIONS[this.kind]);
        return configurations
          .select("assistantId", ...columns)
          .where("assistantId", db.raw("any(?::text[])", [$(1)]));
      },
      { isPrepared },
    );
    return { name: `configurations.${this.kind}: ${columns.join()}`, rows };
  }
}

const PROJECTIONS: { readonly [K in ConfigurationKind]: Projections<K> } = {
  voice: new Projections("voice"),
  sms: new Projections("sms"),
  chat: new Projections("chat"),
  theme: new Projections("theme"),
};

/** The projection of a kind to `fields`, cached by the identity of the list. Ignores unknown names. */
export const projectionOf = <K extends ConfigurationKind>(
  kind: K,
  fields: readonly string[],
): Projection<K> => PROJECTIONS[kind].of(fields);
