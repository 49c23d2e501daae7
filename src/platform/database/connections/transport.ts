import pg from "pg";
import type { Config } from "../../settings/config";

/** How connections to a database are protected, as the driver reads its URL and the variables PGSSL… */
function transportOf(url: string): string {
  // The type of the property lacks the options.
  const { ssl } = new pg.Client({ connectionString: url }) as unknown as Pick<pg.ClientConfig, "ssl">;
  if (!ssl) return "no TLS";
  const isVerified = ssl === true || ssl.rejectUnauthorized !== false;
  return `TLS, certificate ${isVerified ? "verified" : "not verified"}`;
}

/** How the connections of a server are protected, by setting if they differ; undefined for the embedded database. */
export function describeTransport(config: Config): string | undefined {
  if (config.DATABASE_URL === undefined) return undefined;
  const names = [
    "DATABASE_URL",
    "DATABASE_DIRECT_URL",
    "DATABASE_OWNER_URL",
    "DATABASE_JOBS_URL",
    "DATABASE_REPLICA_URL",
  ] as const;
  const each = names.flatMap((name) => {
    const url = config[name];
    return url === undefined ? [] : [{ name, transport: transportOf(url) }];
  });
  if (new Set(each.map(({ transport }) => transport)).size === 1) return each[0]!.transport;
  return each.map(({ name, transport }) => `${name}: ${transport}`).join("; ");
}
