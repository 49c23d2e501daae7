import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api } from "../support/api";
import { startApp, type RunningApp } from "../support/app";
import { createDatabase, type TestDatabase } from "../support/database";
import { copyFiles } from "../support/files";
import type { Credential } from "./counterparts";
import { Changes } from "./effects";

/** A server with its own database, which began as a copy of the same seed. */
export interface Side {
  readonly api: Api;
  readonly publicKey: string;
  readonly changes: Changes;
  readonly database: TestDatabase;
  /** Starts another server on the same data. */
  serve(env: Record<string, string>): ReturnType<typeof startApp>;
  stop(): Promise<void>;
}

/** Both servers, and what the seed has for them. */
export interface Sides<S> {
  readonly seed: S;
  readonly rest: Side;
  readonly graphql: Side;
  stop(): Promise<void>;
}

/** Fills a database through a server, then starts two servers, each on a copy of it and of its files. */
export async function startSides<S>(fill: (app: RunningApp) => Promise<S>): Promise<Sides<S>> {
  const folder = mkdtempSync(join(tmpdir(), "parley-certificate-"));
  const seeded = await createDatabase();
  const app = await startApp(seeded, { DATA_DIR: join(folder, "seed") });
  const seed = await fill(app);
  await app.stop();
  const [rest, graphql] = [
    await startSide(seeded, folder, "rest"),
    await startSide(seeded, folder, "graphql"),
  ];
  await seeded.drop();
  return {
    seed,
    rest,
    graphql,
    stop: async () => {
      for (const side of [rest, graphql]) await side.stop();
      for (const side of [rest, graphql]) await side.database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One address, because answers contain it; and the settings paths need a credential, as everything in GraphQL does. */
const SETTINGS = {
  PUBLIC_BASE_URL: "https://parley.example",
  OPEN_SETTINGS: "false",
  OUTBOUND_ALLOW: "127.0.0.0/8",
};

async function startSide(seeded: TestDatabase, folder: string, name: string): Promise<Side> {
  const dataDir = join(folder, name);
  await copyFiles(join(folder, "seed"), dataDir);
  const database = await createDatabase(seeded);
  const serve = (env: Record<string, string>) =>
    startApp(database, { ...SETTINGS, DATA_DIR: dataDir, ...env });
  const app = await serve({});
  const changes = new Changes(database);
  await changes.begin();
  return { api: app.api, publicKey: app.publicKey, changes, database, serve, stop: app.stop };
}

/** Credentials that the seed has issued. */
export type Tokens = Readonly<
  Record<"token" | "token of a user" | "visitor's session" | "analytics token", string>
>;

/** A client of a side with a credential of a kind. */
export function apiWith(side: Side, tokens: Tokens, credential: Credential | undefined): Api {
  if (credential === undefined) return side.api;
  if (credential === "none") return side.api.as({});
  if (credential === "unknown key") return side.api.as({ "X-API-Key": "parley_sk_unknown" });
  if (credential === "PUBLIC key") return side.api.as({ "X-API-Key": side.publicKey });
  return side.api.as({ Authorization: `Bearer ${tokens[credential]}` });
}
