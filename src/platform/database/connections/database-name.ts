import type { Config } from "../../settings/config";

/** Host, port and name of a database, without credentials, such as "db.example.com:5432/parley". */
export function databaseName(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = hostname === "" ? (searchParams.get("host") ?? "") : hostname;
  return `${host}${port === "" ? "" : `:${port}`}${decodeURIComponent(pathname)}`;
}

/** The database in the settings, as people are told about it. */
export const describeDatabase = ({ DATABASE_URL: url, DATA_DIR: dataDir }: Config): string =>
  url === undefined ? `embedded PostgreSQL in ${dataDir}` : `PostgreSQL at ${databaseName(url)}`;
