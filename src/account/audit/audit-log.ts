import type { Scope } from "../../platform/database/scope";
import { unlessReadOnly } from "../../platform/database/read-only";
import { chainRow, EMPTY_HEAD, type AuditHead, type ChainedAudit } from "./chain";

/** Rows chained by one transaction. */
const BATCH_SIZE = 200;

/** The audit log of an organization: its changes and disclosures of secrets, as a chain of hashes. */
export class AuditLog {
  constructor(private readonly scope: Scope) {}

  /** The end of the chain. */
  async head(): Promise<AuditHead> {
    const [row] = await this.scope.table("audit_heads").select("position", "hash");
    return row ? { position: Number(row.position), hash: row.hash } : EMPTY_HEAD;
  }

  /**
   * Moves all rows of the outbox to the chain. Writers never wait for this. If several servers do it at once, one
   * succeeds per batch and the others retry.
   * @returns the new head; undefined if the outbox was empty
   */
  async seal(): Promise<AuditHead | undefined> {
    let sealed: AuditHead | undefined;
    for (;;) {
      const next = await this.scope.transaction((scope) => scope.of(AuditLog).sealBatch());
      if (next === "nothing") return sealed;
      if (next !== "lost") sealed = next;
    }
  }

  /** Seals before a read. Does nothing on a read-only database. */
  async sealForRead(): Promise<void> {
    await this.seal().catch(unlessReadOnly);
  }

  /** The same for a reader that comes often: one read if nothing waits. */
  async sealWaiting(): Promise<void> {
    const [waiting] = await this.scope.table("audit_outbox").select("id").limit(1);
    if (waiting) await this.sealForRead();
  }

  /** Rows after a position, in order. */
  async after(position: number, limit: number): Promise<ChainedAudit[]> {
    const rows = this.scope.table("audit_events").where("position", ">", position).orderBy("position");
    return (await rows.limit(limit)).map((row) => ({ ...row, position: Number(row.position) }));
  }

  private async sealBatch(): Promise<AuditHead | "nothing" | "lost"> {
    const { scope } = this;
    // Reads the head first: if another server chains a row in the meantime, the row is gone or `advance` fails.
    const head = await this.head();
    // By id, which begins with the time, because the primary key has this order and rows come and go all the time.
    const waiting = await scope.table("audit_outbox").orderBy("id").limit(BATCH_SIZE);
    if (waiting.length === 0) return "nothing";
    waiting.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
    const rows: ChainedAudit[] = [];
    for (const { id, createdAt, entry } of waiting) {
      const content = { ...entry, id, createdAt, organizationId: scope.organizationId };
      rows.push(chainRow(content, rows.at(-1) ?? head));
    }
    const { position, hash } = rows.at(-1)!;
    if (!(await this.advance(head, { position, hash }))) return "lost";
    const ids = waiting.map(({ id }) => id);
    await scope.table("audit_outbox").whereIn("id", ids).delete();
    await scope.insertAll(
      "audit_events",
      rows.map((row) => ({ ...row, position: String(row.position) })),
    );
    return { position, hash };
  }

  /** Compares and sets the head. @returns false if another server has moved it */
  private async advance(from: AuditHead, { position, hash }: AuditHead): Promise<boolean> {
    if (from.position === 0)
      await this.scope
        .insert("audit_heads", { position: String(EMPTY_HEAD.position), hash: EMPTY_HEAD.hash })
        .onConflict("organizationId")
        .ignore();
    const changed = await this.scope
      .table("audit_heads")
      .where({ position: String(from.position), hash: from.hash })
      .update({ position: String(position), hash });
    return changed === 1;
  }
}
