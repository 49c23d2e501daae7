import { newId } from "./ids";
import type { TenantTable } from "./tables";

/** Who asks for an operation, by which way, and what it is about to do. */
export interface AuditNote {
  readonly kind: "CHANGE" | "DISCLOSURE";
  readonly actor: string;
  readonly keyId?: string | null;
  /** Keyed digest of the person behind the actor. */
  readonly person?: string | null;
  readonly address?: string | null;
  readonly interface: string;
  readonly requestId?: string | null;
  readonly operation: string;
  readonly recordType: string;
  /** Names of what was given, of people's words and identifiers with a keyed digest. Values never stand here. */
  readonly fields: readonly AuditedField[];
}

export interface AuditedField {
  readonly name: string;
  readonly digest?: string;
}

/** A row for the outbox of the audit log. */
export interface AuditEntry {
  readonly id: string;
  readonly entry: AuditNote & { readonly recordId: string | null };
}

/** An operation of a person or credential. Its audit entry is stored once, in the transaction of its change. */
export class AuditedOperation {
  private readonly id = newId();
  private recordId: string | null | undefined;
  private isStored = false;

  /**
   * @param creates the table whose first new row is the record of the operation
   * @param onlyWithEvents stored with the first event that the operation leads to, as it may change nothing worth one
   */
  constructor(
    private readonly note: AuditNote,
    private readonly creates?: TenantTable,
    readonly onlyWithEvents = false,
  ) {}

  /** Names the record that the operation is about; null for none, undefined while it is not known. */
  about(recordId: string | null | undefined): void {
    this.recordId ??= recordId;
  }

  inserted(table: TenantTable, { id }: Readonly<Record<string, unknown>>): void {
    if (table === this.creates && typeof id === "string") this.about(id);
  }

  get entry(): AuditEntry | undefined {
    const { id, note, recordId, isStored } = this;
    return isStored || recordId === undefined ? undefined : { id, entry: { ...note, recordId } };
  }

  stored(): void {
    this.isStored = true;
  }

  /** What was stored is gone with its transaction. */
  rolledBack(): void {
    this.isStored = false;
    if (this.creates) this.recordId = undefined;
  }
}
