import type { Caller } from "../auth/caller";
import type { AuditEntry, Disclosure } from "../../platform/database/audited-operation";
import type { Scope } from "../../platform/database/scope";
import { operationOf, type Origin } from "./note";

export type { Disclosure };

interface Batch {
  readonly entries: AuditEntry[];
  readonly written: Promise<void>;
}

/** Notes of one request which secrets it tells: those that are told at once by one statement. */
export class Disclosures {
  private batch: Batch | undefined;

  constructor(private readonly scope: Scope) {}

  /** Resolves when the note is stored: until then the secret is kept. */
  record(caller: Caller | undefined, source: Origin, { recordId, ...told }: Disclosure): Promise<void> {
    const about = { ...told, kind: "DISCLOSURE" } as const;
    const operation = operationOf(this.scope, caller, source, about);
    operation.about(recordId);
    this.batch ??= this.begin();
    this.batch.entries.push(operation.entry!); // its record is known
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
