import type { Knex } from "knex";
import type { Ports } from "../ports/ports";
import { Scope } from "./scope";

/** The open database: makes scopes, and answers the one question that comes before any organization is known. */
export class Database {
  constructor(
    private readonly knex: Knex,
    private readonly ports: Ports,
  ) {}

  scope(organizationId: string): Scope {
    return new Scope(this.knex, organizationId, this.ports);
  }

  /** Whose key a presented value is, by what it is looked up under. */
  async ownerOfKey(
    lookups: readonly string[],
  ): Promise<{ organizationId: string; keyId: string } | undefined> {
    const [found] = (await this.knex("key_lookup").whereIn("lookup", lookups).limit(1)) as {
      organizationId: string;
      keyId: string;
    }[];
    return found;
  }

  /** Resolves when the database answers. */
  async ping(): Promise<void> {
    await this.knex.raw("select 1");
  }

  async close(): Promise<void> {
    await this.knex.destroy();
  }
}
