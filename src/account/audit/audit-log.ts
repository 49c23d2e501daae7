import type { AuditEntry } from "../../platform/database/tables/audited-operation";
import { unlessReadOnly } from "../../platform/database/connections/read-only";
import type { Scope } from "../../platform/database/scope";
import { sqlOf, unprepared, type Query } from "../../platform/database/statement";
import { chainRow, EMPTY_HEAD, type AuditHead, type ChainedAudit } from "./chain";

/** Rows chained by one statement. */
const BATCH_SIZE = 200;
/** Characters of an address. Older releases accepted any text from a trusted proxy, and a longer one may not fit the index. */
const MAX_ADDRESS = 64;

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
   * @param pause waits between batches
   * @returns the new head; undefined if the outbox was empty
   */
  async seal(pause?: () => Promise<void>): Promise<AuditHead | undefined> {
    for (let sealed: AuditHead | undefined; ; await pause?.()) {
      const { isLast, head = sealed } = await this.sealBatch();
      if (isLast) return head;
      sealed = head;
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

  private async sealBatch(): Promise<{ readonly isLast: boolean; readonly head?: AuditHead }> {
    const { scope } = this;
    // Reads the head first: if another server chains a row in the meantime, the row is gone or the head has moved.
    const head = await this.head();
    const waiting = await scope.read(WAITING, [BATCH_SIZE]);
    if (waiting.length === 0) return { isLast: true };
    if (head.position === 0) await this.begin();
    waiting.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
    const rows: ChainedAudit[] = [];
    for (const { id, createdAt, entry } of waiting) {
      const address = entry.address?.slice(0, MAX_ADDRESS) ?? null;
      const content = { ...entry, address, id, createdAt, organizationId: scope.organizationId };
      rows.push(chainRow(content, rows.at(-1) ?? head));
    }
    const { position, hash } = rows.at(-1)!;
    const lists = [rows.map(({ id }) => id), rows.map((row) => row.hash)];
    const moved = await scope.write(CHAIN, [head.position, head.hash, position, hash, ...lists]);
    if (moved.length === 0) return { isLast: false }; // another server has moved the head
    return { isLast: waiting.length < BATCH_SIZE, head: { position, hash } };
  }

  /** Stores the head of an empty chain. */
  private async begin(): Promise<void> {
    const { position, hash } = EMPTY_HEAD;
    const row = this.scope.insert("audit_heads", { position: String(position), hash });
    await row.onConflict("organizationId").ignore();
  }
}

/** The next rows of the outbox by id, which begins with the time: the primary key has this order. Parameter: limit. */
const WAITING = unprepared<Waiting>(({ table, db, $ }) => {
  const rows = table("audit_outbox").select("id", "entry", "createdAt").orderBy("id");
  return db.raw(`${sqlOf(rows)} limit ?`, [$(1)]) as unknown as Query<Waiting>;
});

interface Waiting extends AuditEntry {
  readonly createdAt: Date;
}

/**
 * Moves rows from the outbox to the chain unless its head has moved. PostgreSQL copies their content itself. Parameters:
 * position and hash of the head, those of the new one, ids, and hashes.
 */
const CHAIN = unprepared<{ readonly position: string }>(({ table, db, $, home }) => {
  const advanced = table("audit_heads")
    .where({ position: $(1), hash: $(2) })
    .update({ position: $(3), hash: $(4) } as object)
    .returning("position");
  const taken = table("audit_outbox")
    .whereRaw("id = any(?::text[]) and exists (select from advanced)", [$(5)])
    .delete()
    .returning(["id", "entry", "createdAt"]);
  const chained = db.raw(
    `insert into audit_events (organization_id, position, id, kind, actor, key_id, person, address, interface, request_id,
       operation, record_type, record_id, fields, created_at, previous_hash, hash)
     select ${home.id}, ? + place, id, entry ->> 'kind', entry ->> 'actor', entry ->> 'keyId', entry ->> 'person',
       left(entry ->> 'address', ${MAX_ADDRESS}), entry ->> 'interface', entry ->> 'requestId', entry ->> 'operation', entry ->> 'recordType',
       entry ->> 'recordId', entry -> 'fields', created_at, previous_hash, hash
     from taken join (
       select id, hash, place, lag(hash, 1, ?) over (order by place) as previous_hash
       from unnest(?::text[], ?::text[]) with ordinality as given(id, hash, place)
     ) as places using (id) ${home.join}`,
    [$(1), $(2), $(5), $(6)],
  );
  return db.raw(
    `with advanced as (${sqlOf(advanced)}), taken as (${sqlOf(taken)}), chained as (${sqlOf(chained)})
     select position from advanced`,
  ) as unknown as Query<{ readonly position: string }>;
});
