import { hash } from "node:crypto";
import type { AuditedField, AuditNote } from "../../platform/database/tables/audited-operation";

/** The end of an organization's chain at some time: position and hash of the last row. The hash covers all rows. */
export interface AuditHead {
  /** From 1; 0 for an empty chain. */
  readonly position: number;
  readonly hash: string;
}

/** Content of a row. Its hash covers this and the hash of the row before. */
export interface AuditContent extends AuditNote {
  readonly organizationId: string;
  readonly id: string;
  readonly recordId: string | null;
  readonly createdAt: Date;
}

/** A row of the chain. */
export interface ChainedAudit extends AuditContent {
  readonly position: number;
  readonly previousHash: string;
  readonly hash: string;
}

/** Head of an empty chain. */
export const EMPTY_HEAD: AuditHead = { position: 0, hash: "0".repeat(64) };

/** Appends a row after a head. */
export function chainRow(content: AuditContent, { position, hash: previousHash }: AuditHead): ChainedAudit {
  const placed = { ...content, position: position + 1, previousHash };
  return { ...placed, hash: hashOf(placed) };
}

/**
 * SHA-256 of a row and of the hash before it, in hexadecimal. Uses no key, so that anyone with an export and a
 * published head can verify the chain.
 */
export function hashOf(row: Omit<ChainedAudit, "hash">): string {
  const content = [
    row.previousHash,
    row.organizationId,
    row.position,
    row.id,
    row.createdAt.toISOString(),
    row.kind,
    row.actor,
    row.keyId ?? null,
    row.person ?? null,
    row.address ?? null,
    row.interface,
    row.requestId ?? null,
    row.operation,
    row.recordType,
    row.recordId,
    row.fields.map(({ name, digest, count }: AuditedField) =>
      count === undefined ? [name, digest ?? null] : [name, digest ?? null, count],
    ),
  ];
  return hash("sha256", JSON.stringify(content), "hex");
}
