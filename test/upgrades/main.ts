import { mkdtempSync, readdirSync, readFileSync, rmSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbedded } from "../../src/platform/database/embedded/embedded";
import { Api } from "../support/api";
import { freePort } from "../support/free-port";
import { Twilio } from "../support/twilio";
import { rowsOf, writeDump } from "./dump";
import { PUBLIC_URL, use } from "./history";
import { checkOut, serve, thisVersion, type Version } from "./version";

/** The keys of `test/support/config.ts`. */
const SECRET_KEY = "secret-key-of-the-default-organization";
const SETTINGS = {
  ENCRYPTION_KEYS: "an encryption key that only tests use",
  BOOTSTRAP_SECRET_KEY: SECRET_KEY,
  BOOTSTRAP_PUBLIC_KEY: "public-key-of-the-default-organization",
  OUTBOUND_ALLOW: "127.0.0.0/8",
  EMBEDDING_MODEL: "off",
  LOG_LEVEL: "fatal",
  PUBLIC_BASE_URL: PUBLIC_URL,
};

async function onDatabase<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return work(client).finally(() => client.end());
}

/** Files below a folder in base64. */
function filesIn(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, "base64")]),
  );
}

/** Uses a version on an empty database and stores what it leaves. */
async function dump(version: Version, postgres: string, folder: string, twilio: string): Promise<void> {
  const name = `of_${version.commit.replace(/\W/g, "_")}`;
  await onDatabase(postgres, (client) => client.query(`create database ${name}`));
  const url = Object.assign(new URL(postgres), { pathname: `/${name}` }).href;
  const dataDir = join(folder, name);
  mkdirSync(dataDir);
  const settings = { ...SETTINGS, DATABASE_URL: url, DATA_DIR: dataDir, TWILIO_BASE_URL: twilio };
  const server = await serve(version, settings);
  const receiver = `http://127.0.0.1:${await freePort()}/events`; // nobody listens there
  const { told, keys, missing } = await use(
    new Api(server.url, { "X-API-Key": SECRET_KEY }),
    receiver,
  ).finally(() => server.stop());
  await onDatabase(url, async (client) => {
    const { rows } = await client.query<{ name: string }>("select max(name) as name from knex_migrations");
    const migration = rows[0]!.name;
    const sql = await rowsOf(client);
    writeDump({ migration, commit: version.commit, told, keys, files: filesIn(dataDir), sql });
    console.log(`${migration} by ${version.commit}; it lacks: ${missing.join("; ") || "nothing"}`);
  });
}

async function main(): Promise<void> {
  const refs = process.argv.slice(2);
  const folder = mkdtempSync(join(tmpdir(), "parley-upgrades-"));
  const postgres = await startEmbedded({ dataDir: folder, log: () => undefined, flags: ["fsync=off"] });
  const twilio = await new Twilio().start();
  try {
    for (const ref of refs.length > 0 ? refs : [undefined]) {
      const version = ref === undefined ? thisVersion() : checkOut(ref);
      await dump(version, postgres.url, folder, twilio.url)
        .catch((error: unknown) => {
          process.exitCode = 1;
          console.error(`${version.commit}:`, error);
        })
        .finally(() => version.remove());
    }
  } finally {
    await twilio.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
