import { createHash } from "node:crypto";
import type { AuditedField, AuditNote } from "../../platform/database/audited-operation";

/** A place in an organization's chain: the number of its last row and the hash that stands for all rows up to it. */
export interface AuditHead {
  /** From 1; 0 for an empty chain. */
  readonly position: number;
  readonly hash: string;
}

/** What the hash of a row covers beside the hash of the row before it. */
export interface AuditContent extends AuditNote {
  readonly organizationId: string;
  readonly id: string;
  readonly recordId: string | null;
  readonly createdAt: Date;
}

/** A row in its place. */
export interface ChainedAudit extends AuditContent {
  readonly position: number;
  readonly previousHash: string;
  readonly hash: string;
}

/** Head of a chain without rows. */
export const EMPTY_HEAD: AuditHead = { position: 0, hash: "0".repeat(64) };

/** Puts a row in its place behind a head. */
export function chainRow(content: AuditContent, { position, hash: previousHash }: AuditHead): ChainedAudit {
  const placed = { ...content, position: position + 1, previousHash };
  return { ...placed, hash: hashOf(placed) };
}

/**
 * SHA-256 of a row and of the hash before it, as hexadecimal text. It needs no key, so that whoever has an export and
 * a published head can check it.
 */
export function hashOf(row: Omit<ChainedAudit, "hash">): string {
  const said = [
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
  return createHash("sha256").update(JSON.stringify(said)).digest("hex");
}
