/** The parts of Knex that a dialect overrides and that its own types leave out. */
declare module "knex/lib/dialects/postgres/index.js" {
  import type { PoolClient } from "pg";
  export default class PostgresClient {
    config: object;
    /** Set on the client of a transaction. */
    readonly transacting?: boolean;
    readonly pool: Readonly<Record<"numUsed" | "numFree" | "numPendingAcquires", () => number>>;
    queryCompiler(builder: unknown, bindings: unknown): unknown;
    query(connection: unknown, query: unknown): Promise<unknown>;
    acquireConnection(): Promise<PoolClient>;
    releaseConnection(connection: unknown): Promise<void>;
    emit(event: string, ...values: unknown[]): boolean;
  }
}

declare module "knex/lib/dialects/postgres/query/pg-querycompiler.js" {
  export default class PostgresCompiler {
    constructor(client: unknown, builder: unknown, bindings: unknown);
    readonly builder: { queryContext(): unknown };
    readonly single: { readonly table: string };
    readonly grouped: { readonly join?: object };
    columns(): string;
  }
}
