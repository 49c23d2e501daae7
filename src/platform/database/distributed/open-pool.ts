import type { Knex } from "knex";
import { connect, type ConnectOptions } from "../connections/connect";
import type { Client } from "../knex-client/client";
import { readViews, type View } from "./views";
import { isDistributed } from "../migrations/is-distributed";
import { mistake } from "../../mistake";

/**
 * Opens a connection pool that knows whether the rows of organizations are distributed.
 * @throws Error for a distributed database with settings that it does not support
 */
export async function openPool(url: string, options: ConnectOptions): Promise<Knex> {
  const db = connect(url, options);
  try {
    if (!(await isDistributed(db))) return db;
    const setting = unsupported(options);
    if (setting !== undefined)
      throw mistake(
        new Error(`Citus distributes this database, which ${setting} does not support: unset it.`),
      );
    const { settings } = db.client as Client; // as connect makes it
    settings.isDistributed = true;
    settings.rewrite = await readViews(async (text) => (await db.raw<{ rows: View[] }>(text)).rows);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

function unsupported({ pooled = false, wrote }: ConnectOptions): string | undefined {
  if (pooled) return "DATABASE_DIRECT_URL";
  return wrote === undefined ? undefined : "DATABASE_REPLICA_URL";
}
