import type { Knex } from "knex";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { isLostToAnother } from "../../platform/errors";
import { unprepared } from "../../platform/database/statement";

/** Online step that is done once all servers note changes of the lists of logs. */
const COUNT_STEP = "count_logs";
/** Lock of the blocks of an organization. */
const BLOCKS = "logs.count";
/** Logs of a new block. A block of more than `MOST` logs is divided. */
const SIZE = 3_500;
const MOST = 4_000;
/** Logs per statement that counts. */
const COUNTED = 20 * SIZE;
/** Changes per transaction; a statement for 20,000 may take more than its 5 s on a slow, busy machine. */
const BATCH_SIZE = 5_000;
/** A run ends after this time, so that other periodic jobs do not wait; the next one continues. In ms. */
const RUN_MS = 10_000;

export interface CountOptions {
  /** Changes per transaction. */
  readonly batch?: number;
  /** Logs of a new block. */
  readonly size?: number;
  /** A block of more logs is divided. */
  readonly most?: number;
  /** Logs per statement that counts; a multiple of `size`. */
  readonly counted?: number;
}

/**
 * Counts the logs of all organizations in blocks, which far pages are found by. Does nothing until the last server of an
 * older version has disconnected.
 */
export async function countLogs(database: Database, options: CountOptions = {}): Promise<void> {
  if (!(await database.isStepDone(COUNT_STEP))) return;
  const until = performance.now() + RUN_MS;
  for (const id of await database.uncountedOrganizations()) {
    const scope = database.scope(id);
    while (performance.now() < until && (await countSome(scope, options)));
  }
}

/**
 * Adds some changes to their blocks, and counts or divides one block. Each of the two is a single statement, so that its
 * snapshot contains every chat together with its change. @returns whether there may be more to do
 */
export function countSome(scope: Scope, options: CountOptions): Promise<boolean> {
  const work = (inside: Scope) => countInside(inside, options);
  return scope.transaction(work, { snapshot: "statement" }).catch((error: unknown) => {
    if (isLostToAnother(error)) return false; // the next run continues
    throw error;
  });
}

async function countInside(scope: Scope, options: CountOptions): Promise<boolean> {
  const { batch = BATCH_SIZE, size = SIZE, most = MOST, counted = COUNTED } = options;
  if (!(await scope.tryLock(BLOCKS))) return false;
  const [moved] = await scope.write(MOVE, [batch]);
  const [block] = await scope.write(NEXT, [most]);
  if (!block) {
    await scope.write(REMOVE_EMPTY); // once all are counted: until then, their index has all of them
    return moved!.count === batch;
  }
  const { assistantId, channel, fromAt, fromId } = block;
  const list = channel === "" ? [] : [channel];
  await scope.write(COUNT[channel === "" ? "ofAssistant" : "ofChannel"], [
    assistantId,
    fromAt,
    fromId,
    size,
    counted,
    ...list,
  ]);
  return true;
}

const EXISTS = "on conflict (organization_id, assistant_id, channel, from_at, from_id) do update set logs =";

/**
 * Adds changes to their blocks. A list without blocks gets its first one, which is counted next; a block that is not
 * counted yet stays null. The changes are found by `ctid`, because PostgreSQL joins by their key in a nested loop if it
 * expects few. Citus cannot change rows by `ctid`; there, `is true` makes it use a hash.
 */
const MOVE = unprepared<{ count: number }>(({ db, table, home, $ }) => {
  const hasPlaces = home.join === "";
  const isTaken = hasPlaces
    ? "c.ctid = any(array(select place from taken))"
    : `((c.assistant_id, c.started_at, c.chat_id, c.channel) in (
        select assistant_id, started_at, chat_id, channel from taken)) is true`;
  const some = table("log_changes")
    .select("assistantId", "startedAt", "chatId", "channel")
    .select(hasPlaces ? db.raw("ctid as place") : [])
    .orderByRaw("1, 2, 3, 4 limit ?", [$(1)])
    .forUpdate()
    .skipLocked(); // a chat that starts or goes must not wait
  const query: Knex.Raw = db.raw(
    `with taken as (?), gone as (
    delete from log_changes c where c.organization_id = $1 and ${isTaken}
    returning c.assistant_id, c.started_at, c.chat_id, c.channel, c.change
  ), sums as (
    select gone.assistant_id, list.channel, block.from_at, block.from_id, sum(gone.change)::integer as change
    from gone cross join lateral (values (''), (gone.channel)) list (channel)
    left join lateral (
      select b.from_at, b.from_id from log_blocks b
      where b.organization_id = $1 and b.assistant_id = gone.assistant_id and b.channel = list.channel
        and (b.from_at, b.from_id) <= (gone.started_at, gone.chat_id)
      order by b.from_at desc, b.from_id desc limit 1
    ) block on true
    group by 1, 2, 3, 4
  ), added as (
    insert into log_blocks (organization_id, assistant_id, channel, from_at, from_id, logs)
    select ${home.id}, assistant_id, channel, coalesce(from_at, '-infinity'), coalesce(from_id, ''),
      case when from_at is not null then change end
    from sums ${home.join} where change <> 0 or from_at is null
    ${EXISTS} log_blocks.logs + excluded.logs
  )
  select count(*)::integer as count from gone`,
    [some],
  );
  return query;
});

/** Removes empty blocks. The block before each then covers its range, too. */
const REMOVE_EMPTY = unprepared(({ db }) =>
  db.raw(`delete from log_blocks b where b.organization_id = $1 and b.logs = 0 and b.from_at > '-infinity'`),
);

interface Block {
  readonly assistantId: string;
  readonly channel: string;
  readonly fromAt: string;
  readonly fromId: string;
}

const KEY = "b.assistant_id, b.channel, b.from_at::text as from_at, b.from_id";

/** The next block that is not counted or too large. An index of 047 finds those of more than `MOST` logs. */
const NEXT = unprepared<Block>(({ db }) =>
  db.raw(`
  select ${KEY} from log_blocks b where b.organization_id = $1 and (b.logs is null or b.logs > ${MOST})
  union all select ${KEY} from log_blocks b where $2::integer < ${MOST} and b.organization_id = $1 and b.logs > $2 limit 1`),
);

/**
 * Divides a block into counted ones; what exceeds `counted` logs becomes a block that is not counted yet. Changes that
 * are not in the blocks yet are subtracted, because they will be added later. Parameters: assistant, start of the block, size,
 * most logs, and the channel, if the list has one.
 *
 * The key of a block lies between the preceding log and its own first log, so that it does not contain the id of a log
 * that may have to be erased.
 */
const countOf = (channel: string, narrowed: (alias: string) => string) =>
  unprepared(({ db, home }) =>
    db.raw(`
  with block as (
    select $3::timestamptz as from_at, $4::text collate "C" as from_id, coalesce(next.from_at, 'infinity') as until_at,
      coalesce(next.from_id, '') as until_id
    from (select) one left join lateral (
      select b.from_at, b.from_id from log_blocks b
      where b.organization_id = $1 and b.assistant_id = $2 and b.channel = ${channel} and (b.from_at, b.from_id) > ($3::timestamptz, $4)
      order by 1, 2 limit 1
    ) next on true
  ), walked as (
    select c.started_at, c.id, row_number() over by_start - 1 as place, lag(c.started_at) over by_start as at_before,
      lag(c.id) over by_start as id_before from (
      select c.started_at, c.id from block cross join lateral (
        select c.started_at, c.id from chats c
        where c.organization_id = $1 and c.assistant_id = $2 ${narrowed("c")}
          and (c.started_at, c.id) >= (block.from_at, block.from_id) and (c.started_at, c.id) < (block.until_at, block.until_id)
        order by 1, 2 limit $6::integer + 1
      ) c
    ) c window by_start as (order by c.started_at, c.id)
  ), sizes as (select place / $5::integer as part, count(*)::integer as logs from walked group by 1), starts as (
    select place / $5::integer as part, started_at as from_at, case when at_before < started_at then '' else (
      select left(id, length) from lateral generate_series(1, length(id)) length where left(id, length) > id_before order by 1 limit 1
    ) end as from_id from walked where place > 0 and place % $5::integer = 0
    union all select 0, from_at, from_id from block
  ), parts as (
    select starts.*, coalesce(sizes.logs, 0) as logs, lead(from_at, 1, until_at) over by_start as until_at,
      lead(from_id, 1, until_id) over by_start as until_id
    from starts left join sizes using (part) cross join (select until_at, until_id from block) block
    window by_start as (order by part)
  ), counted as (insert into log_blocks (organization_id, assistant_id, channel, from_at, from_id, logs)
  select ${home.id}, $2, ${channel}, from_at, from_id, case when part * $5::integer < $6::integer then logs - (
    select coalesce(sum(c.change), 0)::integer from log_changes c
    where c.organization_id = $1 and c.assistant_id = $2 ${narrowed("c")}
      and (c.started_at, c.chat_id) >= (from_at, from_id) and (c.started_at, c.chat_id) < (until_at, until_id)) end
  from parts ${home.join}
  ${EXISTS} excluded.logs returning 1) select count(*) from counted`),
  );

const COUNT = {
  ofAssistant: countOf("''", () => ""),
  ofChannel: countOf("$7", (alias) => `and ${alias}.channel = $7`),
};
