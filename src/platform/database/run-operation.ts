import { againAfterDeadlock } from "../errors";
import type { Notes } from "./notes";
import type { AuditedOperation } from "./tables/audited-operation";

/** Runs a transaction of an operation, and again after a deadlock if a client has asked for it: jobs are repeated anyway. */
export function runOperation<R>(
  operation: AuditedOperation | undefined,
  { warnings }: Notes,
  transaction: () => Promise<R>,
): Promise<R> {
  const before = warnings.length;
  const run = () => {
    warnings.length = before;
    return transaction().catch((error: unknown) => {
      operation?.rolledBack();
      throw error;
    });
  };
  return operation?.isOfRequest ? againAfterDeadlock(run) : run();
}
