/** The parts of Knex that a dialect overrides and that its own types leave out. */
declare module "knex/lib/dialects/postgres/index.js" {
  export default class PostgresClient {
    config: object;
    transaction(container: unknown, config: unknown, outer: unknown): unknown;
    queryCompiler(builder: unknown, bindings: unknown): unknown;
    _query(connection: unknown, query: unknown): Promise<unknown>;
    acquireConnection(): Promise<unknown>;
    releaseConnection(connection: unknown): Promise<void>;
    emit(event: string, ...values: unknown[]): boolean;
  }
}

declare module "knex/lib/dialects/postgres/execution/pg-transaction.js" {
  export default class PostgresTransaction {
    constructor(client: unknown, container: unknown, config: unknown, outer: unknown);
    userParams?: object;
    begin(connection: unknown): Promise<unknown>;
    query(connection: unknown, sql: string): Promise<unknown>;
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
