import { giveBackGrowth, growing, growthOf, takeGrowth } from "../../platform/database/connections/growth";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import type { Database } from "../../platform/database/database";

const ADD_INTERVAL_MS = 5_000;

/** SQLSTATE foreign_key_violation. */
const UNKNOWN_ORGANIZATION = "23503";

/** Estimated bytes of rows that an organization stores. Every process adds the bytes that it has written. */
export class StoredSize {
  constructor(private readonly scope: Scope) {}

  /** Bytes of rows, without those that processes have not added yet. */
  async bytes(): Promise<number> {
    const [row] = await this.scope.read(READ_SIZE);
    return Number(row?.bytes ?? 0);
  }

  /** The same with those of this process. */
  async bytesNow(): Promise<number> {
    return (await this.bytes()) + growthOf(this.scope.organizationId);
  }

  /** Adds the bytes that this process has written. Must not run in a transaction, which would lock the row. */
  async add(): Promise<void> {
    const { organizationId } = this.scope;
    const bytes = takeGrowth(organizationId);
    if (bytes === 0) return;
    try {
      await this.scope.insert("stored_sizes", {}).onConflict("organizationId").ignore();
      await this.scope.write(ADD_GROWTH, [bytes]);
    } catch (error) {
      if ((error as { code?: unknown }).code === UNKNOWN_ORGANIZATION) return; // the organization was deleted
      giveBackGrowth(organizationId, bytes);
      throw error;
    }
  }
}

const READ_SIZE = statement<{ bytes: string }>(({ db }) =>
  db.raw(`select bytes::text as bytes from stored_sizes where stored_sizes.organization_id = $1`),
);

const ADD_GROWTH = statement(({ db }) =>
  db.raw(`
  update stored_sizes set bytes = bytes + $2::bigint, grown = grown + $2::bigint
  where stored_sizes.organization_id = $1`),
);

/** Adds the growth of every organization every 5 s. @returns a function that stops it after a last addition */
export function startAddingGrowth(database: Database, failed: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | undefined;
  const addAll = async () => {
    for (const id of growing()) await database.scope(id).of(StoredSize).add().catch(failed);
  };
  const tick = () => void (running ??= addAll().finally(() => (running = undefined)));
  const timer = setInterval(tick, ADD_INTERVAL_MS).unref();
  return async () => {
    clearInterval(timer);
    await running;
    await addAll();
  };
}
