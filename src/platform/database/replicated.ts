import { isTransient, publicError } from "../errors";
import type { Scope } from "./scope";
import { statement } from "./statement";

/** The position in the primary's log after the organization's last write, in bytes; no row before the first one. */
const POSITION = statement<{ position: string }>(({ table, db }) =>
  table("write_positions").select(db.raw("position::text")),
);

/**
 * Runs a read of lists, logs or analytics: on the replica, if there is one and it has everything that the organization
 * has written; else on the primary.
 * @param read gets the scope to read from
 */
export async function replicated<R>(scope: Scope, read: (scope: Scope) => Promise<R>): Promise<R> {
  const { replica } = scope.ports;
  if (!replica || scope.inTransaction) return read(scope);
  const [last] = await scope.read(POSITION);
  if (!(await replica.has(BigInt(last?.position ?? 0)))) return read(scope);
  try {
    return await read(scope.with({ db: replica.db }));
  } catch (error) {
    // Besides failures of its server, a replica cancels reads that keep it from following the primary.
    const isItsOwn = isTransient(error) && publicError(error).code !== "TIMEOUT";
    if (!isItsOwn) throw error;
    if (publicError(error).code === "UNAVAILABLE") replica.failed(error);
    return read(scope);
  }
}
