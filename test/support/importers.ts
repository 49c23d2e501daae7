import { createHash } from "node:crypto";
import { PERMISSIONS } from "../../src/account/auth/limits";
import { Keys } from "../../src/account/organization/keys";
import type { Database } from "../../src/platform/database/database";
import { Api } from "./api";

const databases = new Map<string, Database>();
const importers = new Map<string, Promise<Api>>();

/** Remembers the database of a server, in which the keys of its importers are made. */
export const rememberDatabase = (url: string, database: Database): void => void databases.set(url, database);

/**
 * A client with a key as `npm run key:create -- --import` makes it, for the organization of a client with a key without
 * limits; the same client for any other.
 */
export function importerOf(api: Api): Promise<Api> {
  const value = api.headers["X-API-Key"];
  const database = databases.get(api.url);
  if (value === undefined || database === undefined) return Promise.resolve(api);
  const name = `${api.url} ${value}`;
  if (!importers.has(name)) importers.set(name, makeImporter(api, value, database));
  return importers.get(name)!;
}

async function makeImporter(api: Api, value: string, database: Database): Promise<Api> {
  const { crypto } = database.scope("").ports;
  const owner = await database.ownerOfKey(crypto.lookups(value));
  if (!owner) return api;
  const scope = database.scope(owner.organizationId);
  const [key] = await scope.table("api_keys").where({ id: owner.keyId });
  if (!key || key.type !== "SECRET" || key.status !== "ACTIVE") return api;
  if (key.permissions ?? key.assistantIds ?? key.expiresAt) return api;
  // Two servers with the same data have the same key.
  const digest = createHash("sha256").update(value).digest("hex").slice(0, 36);
  const imports = `parley_sk_${digest}`;
  const isMade = (await database.ownerOfKey(crypto.lookups(imports))) !== undefined; // by another server of the same database
  if (!isMade) await scope.of(Keys).create({ permissions: PERMISSIONS }, { value: imports });
  return new Api(api.url, { ...api.headers, "X-API-Key": imports });
}
