import { LRUCache } from "lru-cache";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";

/** Events that one statement assigns positions to. */
const BATCH_SIZE = 2_000;

/** New events of an organization after which a process assigns positions, so that each statement sorts few of them. */
const MAX_RECORDED = 200;

interface SequencingResult {
  /** Whether the organization has a row in `ledger_heads`. */
  readonly begun: boolean;
  /** Events without a position, up to BATCH_SIZE, and how many of them got one. */
  readonly found: number;
  readonly placed: number;
}

/**
 * Assigns positions to committed events without one. The statement compares and sets the head of the ledger: of several
 * concurrent sequencers one succeeds, and positions become visible in their order. No lock outlives the statement, so a
 * sequencer that crashes blocks no other.
 *
 * Events of a chat keep the order of its counter. The chat's row is locked until each of them is committed, so the
 * visible events of a chat have no gap. Positions exceed all transaction ids so far, for servers of older versions.
 */
const ASSIGN_BATCH = statement<SequencingResult>(({ db }) =>
  db.raw(`
  with head as (
    select position, greatest(position, pg_snapshot_xmax(pg_current_snapshot())::text::bigint) as base
    from ledger_heads where ledger_heads.organization_id = $1
  ), unplaced as (
    select * from ( -- with an offset, so that they are not looked for among all events of all chats
      select id, chat_id, chat_sequence, created_at from events
      where events.organization_id = $1 and transaction is null offset 0
    ) open order by chat_id, chat_sequence, id limit ${BATCH_SIZE}
  ), timed as (
    select id, chat_sequence,
      max(created_at) over (partition by coalesce(chat_id, id) order by chat_sequence, id) as since
    from unplaced
  ), numbered as (
    select id, row_number() over (order by since, chat_sequence, id) as number from timed
  ), moved as (
    update ledger_heads set position = head.base + (select count(*) from numbered)
    from head where ledger_heads.organization_id = $1 and ledger_heads.position = head.position
      and exists (select from numbered)
    returning head.base
  ), placed as ( -- with subqueries, which run once; "numbered" as a table could be read for each event
    update events set transaction =
      ((select base from moved) + ((select jsonb_object_agg(id, number) from numbered) ->> id)::bigint)::text::xid8
    where events.organization_id = $1 and id = any(array(select id from numbered)) and transaction is null
      and exists (select from moved)
    returning 1
  )
  select exists (select from head) as begun, (select count(*)::integer from numbered) as found,
    (select count(*)::integer from placed) as placed`),
);

/** Creates the head of a ledger, after all events that were written before the sequencer existed. */
const CREATE_LEDGER = statement(({ db }) =>
  db.raw(`
  insert into ledger_heads (organization_id, position)
  select $1, coalesce((select transaction::text::bigint from events
    where events.organization_id = $1 and transaction is not null order by events.transaction desc limit 1), 0)
  on conflict do nothing`),
);

async function assignPositions(scope: Scope): Promise<void> {
  for (;;) {
    const [result] = await scope.write(ASSIGN_BATCH);
    if (!result!.begun) await scope.write(CREATE_LEDGER);
    else if (result!.found < BATCH_SIZE && result!.found === result!.placed) return;
  }
}

interface Runs {
  readonly now: Promise<void>;
  next?: Promise<void>;
}

/** Runs of the sequencer in this process, by organization. */
const runs = new Map<string, Runs>();

/**
 * Resolves when all events of the organization that are committed by now have positions. Calls during a run share the
 * next run.
 */
export function sequence(scope: Scope): Promise<void> {
  // In a transaction the head would stay locked until the commit.
  if (scope.inTransaction) return Promise.resolve();
  const { organizationId } = scope;
  const current = runs.get(organizationId);
  if (current) return (current.next ??= current.now.catch(() => undefined).then(() => start(scope)));
  return start(scope);
}

function start(scope: Scope): Promise<void> {
  const { organizationId } = scope;
  const own: Runs = {
    now: assignPositions(scope).finally(() => {
      if (runs.get(organizationId) === own && !own.next) runs.delete(organizationId);
    }),
  };
  runs.set(organizationId, own);
  return own.now;
}

/** Events that this process has recorded since it last assigned positions because of them, by organization. */
const recorded = new LRUCache<string, number>({ max: 10_000 });

/** Notes a new event. Assigns positions in the background when there are many; what fails is left to `sequenceAll`. */
export function noteRecorded(scope: Scope): void {
  const { organizationId } = scope;
  const count = (recorded.get(organizationId) ?? 0) + 1;
  if (count < MAX_RECORDED || scope.inTransaction) return void recorded.set(organizationId, count);
  recorded.delete(organizationId);
  void sequence(scope).catch(() => undefined);
}

/** Assigns positions in all organizations, so that events of ledgers that nobody reads do not pile up. */
export async function sequenceAll(database: Database): Promise<void> {
  for (const organizationId of await database.unplacedEvents())
    await sequence(database.scope(organizationId));
}
