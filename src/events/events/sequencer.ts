import type { Database } from "../../platform/database/database";
import type { Build, Scope } from "../../platform/database/scope";

/** Most events that get their positions by one statement. */
const MOST = 2_000;

interface Pass {
  /** Whether the organization's ledger was begun. */
  readonly begun: boolean;
  /** Events without a position, up to MOST, and how many of them have one now. */
  readonly found: number;
  readonly placed: number;
}

/**
 * Gives positions to events that are committed and have none, by one statement: it compares the ledger's head with what
 * it saw and sets it, so that of several sequencers one at a time gets through, and positions are seen in their order.
 * Nothing is held beyond the statement: a sequencer that dies blocks nobody.
 *
 * A chat's events keep the order of its counter: what is seen of a chat is complete up to the last one seen, as its row
 * is locked until each of them is committed. Positions also exceed all transaction ids so far, for older servers.
 */
const placing: Build = (_table, _$, db) =>
  db.raw(`
  with head as (
    select position from ledger_heads where ledger_heads.organization_id = $1
  ), unplaced as (
    select id, chat_id, chat_sequence, created_at from events
    where events.organization_id = $1 and transaction is null
    order by chat_id, chat_sequence, id limit ${MOST}
  ), timed as (
    select id, chat_sequence,
      max(created_at) over (partition by coalesce(chat_id, id) order by chat_sequence, id) as since
    from unplaced
  ), numbered as (
    select id, row_number() over (order by since, chat_sequence, id) as number from timed
  ), moved as (
    update ledger_heads set position = (select count(*) from numbered)
      + greatest(head.position, pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
    from head where ledger_heads.organization_id = $1 and ledger_heads.position = head.position
      and exists (select from numbered)
    returning greatest(head.position, pg_snapshot_xmax(pg_current_snapshot())::text::bigint) as base
  ), placed as (
    update events set transaction = (moved.base + numbered.number)::text::xid8 from numbered, moved
    where events.organization_id = $1 and events.id = numbered.id
    returning 1
  )
  select exists (select from head) as begun, (select count(*)::integer from numbered) as found,
    (select count(*)::integer from placed) as placed`);

/** Begins a ledger behind what is in it from before there were sequencers. */
const beginning: Build = (_table, _$, db) =>
  db.raw(`
  insert into ledger_heads (organization_id, position)
  select $1, coalesce((select transaction::text::bigint from events
    where events.organization_id = $1 and transaction is not null order by transaction desc limit 1), 0)
  on conflict do nothing`);

async function place(scope: Scope): Promise<void> {
  for (;;) {
    const [pass] = await scope.write<Pass>("events.place", placing, []);
    if (!pass!.begun) await scope.write("events.beginLedger", beginning, []);
    else if (pass!.found < MOST && pass!.found === pass!.placed) return;
  }
}

interface Turns {
  readonly now: Promise<void>;
  next?: Promise<void>;
}

/** Who places events of an organization in this process. */
const turns = new Map<string, Turns>();

/**
 * Resolves when all events of the organization that are committed by now have their positions. Who asks while this is
 * being done shares the next turn with all others who do.
 */
export function sequence(scope: Scope): Promise<void> {
  // In a transaction the head would stay locked until it ends.
  if (scope.inTransaction) return Promise.resolve();
  const { organizationId } = scope;
  const going = turns.get(organizationId);
  if (going) return (going.next ??= going.now.catch(() => undefined).then(() => begin(scope)));
  return begin(scope);
}

function begin(scope: Scope): Promise<void> {
  const { organizationId } = scope;
  const own: Turns = {
    now: place(scope).finally(() => {
      if (turns.get(organizationId) === own && !own.next) turns.delete(organizationId);
    }),
  };
  turns.set(organizationId, own);
  return own.now;
}

/** Gives positions to what nobody has asked for since, so that it doesn't pile up. */
export async function sequenceAll(database: Database): Promise<void> {
  for (const organizationId of await database.unplacedEvents())
    await sequence(database.scope(organizationId));
}
