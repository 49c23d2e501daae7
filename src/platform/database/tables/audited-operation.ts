import { newId } from "../values/ids";
import type { TenantTable } from "./tables";

/** Kind of an actor: a kind of credential, or who acts without one. */
export type AuditActor =
  "SECRET" | "PUBLIC" | "TOKEN" | "VISITOR" | "ANALYTICS" | "ANONYMOUS" | "OPERATOR" | "SYSTEM" | "PROVIDER";
export type AuditInterface = "GRAPHQL" | "REST" | "CALLBACK" | "COMMAND" | "JOB";

/** An operation for the audit log: its actor, interface and intent. */
export interface AuditNote {
  readonly kind: "CHANGE" | "DISCLOSURE";
  readonly actor: AuditActor;
  readonly keyId?: string | null;
  /** Keyed digest of the person behind the actor. */
  readonly person?: string | null;
  readonly address?: string | null;
  readonly interface: AuditInterface;
  readonly requestId?: string | null;
  readonly operation: string;
  readonly recordType: string;
  /** Names of the supplied fields, with a keyed digest for people's words and identifiers. Never contains values. */
  readonly fields: readonly AuditedField[];
}

export interface AuditedField {
  readonly name: string;
  readonly digest?: string;
  /** Number of rows, for operations on many. */
  readonly count?: number;
}

/** A secret in a response: its record and the operation. */
export type Disclosure = Pick<AuditNote, "operation" | "recordType" | "fields"> & {
  readonly recordId: string | null;
};

/** Who makes a change, for what the organization's users see of it. */
export interface Author {
  readonly actor: AuditActor;
  readonly keyId?: string | null;
  /** The user of the token, in clear. */
  readonly userId?: string | undefined;
}

/** A row for the outbox of the audit log. */
export interface AuditEntry {
  readonly id: string;
  readonly entry: AuditNote & { readonly recordId: string | null };
}

/**
 * Determines when the entry of an operation is stored. `transaction`: in its first transaction. `events`: with the
 * first event it causes, because it may change nothing worth an entry. `counts`: in the transaction that changes
 * rows, with their number.
 */
export type EntryTiming = "transaction" | "events" | "counts";

/** An operation of a person, credential or job. Its audit entry is stored once, in the transaction of its change. */
export class AuditedOperation {
  private readonly id = newId();
  private readonly counts = new Map<string, number>();
  private recordId: string | null | undefined;
  private isStored = false;

  /**
   * @param creates the table whose first new row is the record of the operation
   * @param userId the user of the token that was sent
   */
  constructor(
    private readonly note: AuditNote,
    private readonly creates?: TenantTable,
    readonly storedWith: EntryTiming = "transaction",
    private readonly userId?: string,
  ) {}

  get author(): Author {
    const { actor, keyId } = this.note;
    return { actor, keyId, userId: this.userId };
  }

  /** Whether a client has asked for it, rather than a job, a command or a provider. */
  get isOfRequest(): boolean {
    return this.note.interface === "GRAPHQL" || this.note.interface === "REST";
  }

  /** Sets the record of the operation; null for none, undefined while it is unknown. */
  about(recordId: string | null | undefined): void {
    this.recordId ??= recordId;
  }

  inserted(table: TenantTable, { id }: { readonly id?: unknown }): void {
    if (table === this.creates && typeof id === "string") this.about(id);
  }

  /** Adds to the number of changed rows, by kind. */
  count(rows: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(rows))
      if (count > 0) this.counts.set(name, (this.counts.get(name) ?? 0) + count);
  }

  get entry(): AuditEntry | undefined {
    const { id, note, recordId, isStored, counts } = this;
    if (isStored || recordId === undefined || (this.storedWith === "counts" && counts.size === 0))
      return undefined;
    const fields = [...note.fields, ...[...counts].map(([name, count]) => ({ name, count }))];
    return { id, entry: Object.assign({}, note, { fields, recordId }) }; // not a spread: see CONTRIBUTING.md
  }

  /** The disclosure that the operation makes; undefined if it discloses no secret. */
  get disclosure(): Disclosure | undefined {
    const { kind, operation, recordType, fields } = this.note;
    return kind === "DISCLOSURE"
      ? { operation, recordType, fields, recordId: this.recordId ?? null }
      : undefined;
  }

  stored(): void {
    this.isStored = true;
  }

  /** Leaves out the entry, because the operation has found everything as it should be. */
  changedNothing(): void {
    this.isStored = true;
  }

  /** Resets the state after a rollback. */
  rolledBack(): void {
    this.isStored = false;
    this.counts.clear();
    if (this.creates) this.recordId = undefined;
  }
}
