import type { Caller } from "../auth/caller";
import type { AuditEntry, Disclosure } from "../../platform/database/tables/audited-operation";
import type { Scope } from "../../platform/database/scope";
import { operationOf, type Origin } from "./note";

export type { Disclosure };

interface Batch {
  readonly entries: AuditEntry[];
  readonly written: Promise<void>;
}

/** Records the secrets that a request discloses. Secrets of the same tick share one statement. */
export class Disclosures {
  private batch: Batch | undefined;

  constructor(private readonly scope: Scope) {}

  /** Records a disclosure. The secret must not be sent before this resolves. */
  record(caller: Caller | undefined, source: Origin, { recordId, ...details }: Disclosure): Promise<void> {
    const about = { ...details, kind: "DISCLOSURE" } as const;
    const operation = operationOf(this.scope, caller, source, about);
    operation.about(recordId);
    this.batch ??= this.begin();
    this.batch.entries.push(operation.entry!); // set, because the record is known
    return this.batch.written;
  }

  private begin(): Batch {
    const entries: AuditEntry[] = [];
    const written = new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.batch = undefined;
      return this.scope.insertAll(
        "audit_outbox",
        entries.map((entry) => ({ ...entry })),
      );
    });
    return { entries, written };
  }
}
