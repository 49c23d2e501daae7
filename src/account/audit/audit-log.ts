import type { Scope } from "../../platform/database/scope";
import { unlessReadOnly } from "../../platform/database/read-only";
import { chainRow, EMPTY_HEAD, type AuditHead, type ChainedAudit } from "./chain";

/** Rows that are numbered by one transaction. */
const BATCH = 500;

/** The audit log of an organization: who changed what, and to whom secrets were told. */
export class AuditLog {
  constructor(private readonly scope: Scope) {}

  /** The end of the chain. */
  async head(): Promise<AuditHead> {
    const [row] = await this.scope.table("audit_heads").select("position", "hash");
    return row ? { position: Number(row.position), hash: row.hash } : EMPTY_HEAD;
  }

  /**
   * Numbers and chains every row that has been written. Writers never wait for it; of several servers that do it at
   * once, one wins each batch and the others look again.
   * @returns the new head; undefined when nothing waited
   */
  async seal(): Promise<AuditHead | undefined> {
    let sealed: AuditHead | undefined;
    for (;;) {
      const next = await this.scope.transaction((scope) => scope.of(AuditLog).sealBatch());
      if (next === "nothing") return sealed;
      if (next !== "lost") sealed = next;
    }
  }

  /** Seals before a read. A database that takes no writes shows what was sealed before. */
  async sealForRead(): Promise<void> {
    await this.seal().catch(unlessReadOnly);
  }

  /** Rows behind a place, in order. */
  async after(position: number, most: number): Promise<ChainedAudit[]> {
    const rows = this.scope.table("audit_events").where("position", ">", position).orderBy("position");
    return (await rows.limit(most)).map((row) => ({ ...row, position: Number(row.position) }));
  }

  private async sealBatch(): Promise<AuditHead | "nothing" | "lost"> {
    const { scope } = this;
    // The head first: a row that another server has moved since then is either gone from the outbox, or the head is.
    const head = await this.head();
    const waiting = await scope
      .table("audit_outbox")
      .orderBy([{ column: "createdAt" }, { column: "id" }])
      .limit(BATCH);
    if (waiting.length === 0) return "nothing";
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

  /** Moves the head unless it stands elsewhere by now. */
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
