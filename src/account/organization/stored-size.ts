import { giveBackGrowth, growing, takeGrowth } from "../../platform/database/growth";
import type { Build, Scope } from "../../platform/database/scope";
import type { Database } from "../../platform/database/database";

/** Interval between two additions of growth to the stored size, in milliseconds. */
const ADD_EVERY_MS = 5_000;

/** SQLSTATE of a foreign key that finds nothing. */
const UNKNOWN_ORGANIZATION = "23503";

/** How many bytes of rows an organization stores: an estimate that every process adds to what it writes. */
export class StoredSize {
  constructor(private readonly scope: Scope) {}

  /** Bytes of rows, without what servers have not added yet. */
  async bytes(): Promise<number> {
    const [row] = await this.scope.named<{ bytes: string }>("sizes.read", reading, []);
    return Number(row?.bytes ?? 0);
  }

  /** Adds what this process has written. Not in a transaction, which would hold the row. */
  async add(): Promise<void> {
    const { organizationId } = this.scope;
    const bytes = takeGrowth(organizationId);
    if (bytes === 0) return;
    try {
      await this.scope.insert("stored_sizes", {}).onConflict("organizationId").ignore();
      await this.scope.write("sizes.add", adding, [bytes]);
    } catch (error) {
      if ((error as { code?: unknown }).code === UNKNOWN_ORGANIZATION) return; // it is gone
      giveBackGrowth(organizationId, bytes);
      throw error;
    }
  }
}

const reading: Build = (_table, _$, db) =>
  db.raw(`select bytes::text as bytes from stored_sizes where stored_sizes.organization_id = $1`);

const adding: Build = (_table, _$, db) =>
  db.raw(`
  update stored_sizes set bytes = bytes + $2::bigint, grown = grown + $2::bigint
  where stored_sizes.organization_id = $1`);

/** Adds the growth of every organization now and then. @returns what ends it */
export function startAddingGrowth(database: Database, failed: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | undefined;
  const addAll = async () => {
    for (const id of growing()) await database.scope(id).of(StoredSize).add().catch(failed);
  };
  const tick = () => void (running ??= addAll().finally(() => (running = undefined)));
  const timer = setInterval(tick, ADD_EVERY_MS).unref();
  return async () => {
    clearInterval(timer);
    await running;
    await addAll();
  };
}
