import type { Knex } from "knex";
import type { Scope } from "../../platform/database/scope";
import { sqlOf, statement, type Pieces } from "../../platform/database/statement";
import type { TenantTable } from "../../platform/database/tables/tables";

/** Tables of records with an id that no record of another of these tables has, unless they were imported. */
const TABLES = [
  "assistants",
  "chats",
  "deliveries",
  "deployments",
  "end_users",
  "end_user_exports",
  "events",
  "files",
  "erasures",
  "api_keys",
  "projects",
  "telephony_connections",
  "webhook_destinations",
  "workflows",
  "workflow_edges",
  "workflow_nodes",
] as const satisfies readonly TenantTable[];
export type RecordTable = (typeof TABLES)[number];

/** Looks up the table of each id by the primary keys. */
const LOOK_UP = statement<{ id: string; name: RecordTable }>((pieces) => {
  const parts = TABLES.map((name) => sqlOf(idsIn(name, pieces)));
  return pieces.db.raw<never>(`select found.id, found.name from (${parts.join(" union all ")}) as found`);
});

function idsIn(name: RecordTable, { table, db, $ }: Pieces): Knex.QueryBuilder {
  const rows: Knex.QueryBuilder = table(name);
  if (name === "assistants") rows.whereNull("deletedAt");
  return rows.where("id", db.raw("any(?::text[])", [$(1)])).select("id", db.raw(`'${name}' as name`));
}

/** The records of an organization, whatever their type. */
export class Records {
  constructor(private readonly scope: Scope) {}

  /** The table of the record with an id; undefined if there is none. Calls in the same tick share one statement. */
  tableOf(id: string): Promise<RecordTable | undefined> {
    const loader = this.scope.loader<RecordTable | undefined>("records", async (ids) => {
      const rows = await this.scope.read(LOOK_UP, [ids]);
      // Imported records of different types may have the same id: the first table counts.
      rows.sort((a, b) => TABLES.indexOf(b.name) - TABLES.indexOf(a.name));
      const found = new Map(rows.map((row) => [row.id, row.name]));
      return ids.map((one) => found.get(one));
    });
    return loader.load(id);
  }
}
