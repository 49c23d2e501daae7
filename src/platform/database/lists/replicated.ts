import { Attached } from "../../attached";
import { isTransient, publicError } from "../../errors";
import type { Scope } from "../scope";
import { statement } from "../statement";

/** The position in the primary's log after the organization's last write, in bytes; no row before the first one. */
const POSITION = statement<{ position: string }>(({ table, db }) =>
  table("write_positions").select(db.raw("position::text")),
);

/** The requests for the position that are sent in this tick, by scope. */
const asked = new Attached<Promise<bigint>>();

/** The position of the organization's last write. Reads that begin together ask once. */
function lastWrite(scope: Scope): Promise<bigint> {
  const known = asked.get(scope);
  if (known) return known;
  const position = scope.read(POSITION).then(([last]) => BigInt(last?.position ?? 0));
  asked.set(scope, position);
  process.nextTick(() => asked.set(scope, undefined));
  return position;
}

/**
 * Runs a read of lists, logs or analytics: on the replica, if there is one and it has everything that the organization
 * has written; else on the primary.
 * @param read gets the scope to read from
 */
export async function replicated<R>(scope: Scope, read: (scope: Scope) => Promise<R>): Promise<R> {
  const { replica } = scope.ports;
  if (!replica || scope.inTransaction) return read(scope);
  const onPrimary = () => {
    replica.countRead("primary");
    return read(scope);
  };
  if (!(await replica.has(await lastWrite(scope)))) return onPrimary();
  try {
    const result = await read(scope.with({ db: replica.db }));
    replica.countRead("replica");
    return result;
  } catch (error) {
    // Besides failures of its server, a replica cancels reads that keep it from following the primary.
    const isItsOwn = isTransient(error) && publicError(error).code !== "TIMEOUT";
    if (!isItsOwn) throw error;
    if (publicError(error).code === "UNAVAILABLE") replica.failed(error);
    return onPrimary();
  }
}
