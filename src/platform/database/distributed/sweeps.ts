/** The start of the body of a function on the coordinator, which sees all organizations. */
export const HEAD = `security definer set search_path = pg_catalog, public as $$
    #variable_conflict use_column`;

/** Time that a sweep waits for the connection to a worker, in ms. */
const CONNECT_TIMEOUT_MS = 1_000;

/**
 * Runs a query on the shards of some tables, on each worker apart, and returns its rows as JSON. Workers that do not
 * answer are left out, unlike by a statement, which fails then.
 */
const ON_LIVING_WORKERS = `
  create or replace function parley_on_living_workers(tables text[], query text) returns setof json
    language plpgsql ${HEAD}
    declare hosts text[]; ports integer[]; commands text[]; answer record;
    begin
      with shards as (
        select s.logicalrelid, s.shardid, format('%I as not materialized (select * from %s)', name,
            shard_name(s.logicalrelid, s.shardid, false)) as part,
          case when s.shardminvalue is not null then row_number() over (partition by name order by s.shardminvalue::integer) end as place
        from unnest(tables) name join pg_dist_shard s on s.logicalrelid = name::regclass
      ), colocated as (
        select own.place, min(own.shardid) as shardid, string_agg(own.part, ', ') as parts from (
          select place, shardid, part from shards where place is not null
          union all
          select places.place, null, shards.part from shards, (select distinct place from shards) places
          where shards.place is null and places.place is not null
        ) own group by 1
      ), workers as (
        select p.nodename, p.nodeport, string_agg(format('(with %s %s)', c.parts, query), ' union all ') as queries
        from colocated c join pg_dist_shard_placement p on p.shardid = c.shardid group by 1, 2
      )
      select array_agg(nodename), array_agg(nodeport),
        array_agg(format('select coalesce(json_agg(found), ''[]'') from (%s) found', queries))
      into hosts, ports, commands from workers;
      for answer in select * from master_run_on_worker(hosts, ports, commands, true) loop
        if answer.success then
          return query select found.value from json_array_elements(answer.result::json) found;
        elsif answer.result not like 'failed to connect%' then
          raise exception 'worker %: %', answer.node_name, answer.result;
        end if;
      end loop;
    end $$`;

interface Sweep {
  /** The name and the parameters of the function. */
  readonly signature: string;
  /** The columns of its rows, with their types. */
  readonly columns: string;
  /** Selects the rows of organizations on one shard, if run there. Names tables with their schema. */
  readonly query: string;
  /** End of the query for the rows of all shards together. */
  readonly end?: string;
}

const SWEEPS: readonly Sweep[] = [
  {
    signature: "parley_due_queues()",
    columns: "organization_id text, destination_id text",
    query: `select d.organization_id, d.id as destination_id from public.webhook_destinations d where exists (
      select 1 from public.delivery_queues q where q.organization_id = d.organization_id
        and q.destination_id = d.id and q.due_at <= now())`,
  },
  {
    signature: "parley_pending_organizations(from_id text)",
    columns: "organization_id text",
    query: `select distinct d.organization_id from public.deliveries d
      where d.status = 'PENDING' and d.organization_id >= from_id`,
    end: "order by 1",
  },
  {
    signature: "parley_expired_texts(before timestamptz)",
    columns: "organization_id text",
    query: `select r.organization_id from public.sms_received r where r.created_at < before
     union select s.organization_id from public.sms_sent s where s.created_at < before`,
  },
  {
    signature: "parley_idle_chats(idle_since timestamptz)",
    columns: "organization_id text, chat_id text",
    query: `select c.organization_id, c.id as chat_id from public.chats c
     where c.status = 'in-progress' and c.last_message_at < idle_since and not exists (
       select 1 from public.calls k
       where k.organization_id = c.organization_id and k.chat_id = c.id and k.engine <> 'page') limit 500`,
    end: "limit 500",
  },
  {
    signature: "parley_quiet_chats(idle_since timestamptz)",
    columns: "organization_id text, chat_id text, is_idle boolean",
    query: `select c.organization_id, c.id as chat_id, c.last_message_at < idle_since as is_idle from public.chats c
     where c.status = 'in-progress' and c.quiet_from < idle_since and not exists (
       select 1 from public.calls k
       where k.organization_id = c.organization_id and k.chat_id = c.id and k.engine <> 'page') limit 500`,
    end: "limit 500",
  },
  {
    signature: "parley_uncounted_organizations()",
    columns: "organization_id text",
    query: `select c.organization_id from public.log_changes c
     union select b.organization_id from public.log_blocks b where b.logs is null or b.logs > 4000`,
  },
  {
    signature: "parley_uncounted_deliveries(before timestamptz)",
    columns: "organization_id text",
    query: `select g.organization_id from public.delivery_sum_gaps g
     union select w.organization_id from public.webhook_destinations w
     left join public.delivery_sum_heads h on h.organization_id = w.organization_id
     where exists (select from public.deliveries d where d.organization_id = w.organization_id
       and d.created_at >= coalesce(h.until, '-infinity') and d.created_at < before)`,
  },
  {
    signature: "parley_unfinished_erasures(silence interval)",
    columns: "organization_id text, erasure_id text",
    query: `select e.organization_id, e.id as erasure_id from public.erasures e
     where e.status <> 'DONE' and e.worked_at < now() - silence`,
  },
  {
    signature: "parley_expired_exports()",
    columns: "organization_id text, export_id text",
    query: `select e.organization_id, e.id as export_id from public.end_user_exports e
     where e.archive_id is not null and e.expires_at < now()`,
  },
  {
    signature: "parley_audit_waiting()",
    columns: "organization_id text",
    query: `select distinct o.organization_id from public.audit_outbox o limit 1000`,
    end: "limit 1000",
  },
  {
    signature: "parley_unmeasured(large bigint)",
    columns: "organization_id text",
    query: `select h.organization_id from public.distributed_organizations h
     left join public.stored_sizes s on s.organization_id = h.organization_id
     where s.measured_at is null or s.walk is not null
       or s.measured_at < now() - case when s.bytes >= large then interval '4 minutes' else interval '55 minutes' end
     order by s.measured_at nulls first`,
  },
  {
    signature: "parley_unplaced_events()",
    columns: "organization_id text",
    query: `select distinct a.organization_id from public.assistants a where exists (
      select 1 from public.events e where e.organization_id = a.organization_id and e.transaction is null)`,
  },
  {
    signature: "parley_unkept_organizations()",
    columns: "organization_id text",
    query: `select distinct c.organization_id from public.chats c where not c.counted and c.status = 'ended'`,
  },
  {
    signature: "parley_unmeasured_chats()",
    columns: "organization_id text",
    query: `select c.organization_id from public.chats c where not c.counted and c.status <> 'ended' and (
       select true from public.live_facts l where l.organization_id = c.organization_id and l.chat_id = c.id
         and l.message_count = c.message_count and l.event_count = c.event_count) is null
     union select l.organization_id from public.live_facts l where coalesce((
       select c.counted or c.status = 'ended' from public.chats c
       where c.organization_id = l.organization_id and c.id = l.chat_id), true)`,
  },
  {
    signature: "parley_unsummed_organizations()",
    columns: "organization_id text",
    query: `select distinct k.organization_id from public.conversation_facts_kept k
     join public.organizations o on o.id = k.organization_id where o.recount_facts_after is null`,
  },
  {
    signature: "parley_busiest_organizations(most integer)",
    columns: "organization_id text, per_second double precision",
    query: `select e.organization_id, count(*) / 3600::float8 as per_second from public.events e
     where e.created_at > now() - interval '1 hour' group by 1`,
    end: "order by 2 desc, 1 limit most",
  },
  {
    signature: "parley_due_destinations_read()",
    columns: "organization_id text, destination_id text, queues bigint, oldest timestamptz",
    query: `select q.organization_id, q.destination_id, count(*) as queues, min(q.due_at) as oldest
      from public.delivery_queues q where q.due_at <= now() group by 1, 2`,
  },
  {
    signature: "parley_unsequenced_read()",
    columns: "events bigint, oldest timestamptz",
    query: `select count(*) as events, min(e.created_at) as oldest from public.events e
      where e.transaction is null and e.created_at > now() - interval '1 day'`,
  },
  {
    signature: "parley_live_conversations_read()",
    columns: "channel text, chats bigint",
    query: `select c.channel, count(*) as chats from public.chats c where c.status <> 'ended' group by 1`,
  },
];

/** Citus plans statements with parameters only in PL/pgSQL. */
function definitionOf({ signature, columns, query, end = "" }: Sweep): string {
  const names = columns.split(", ").map((column) => column.split(" ")[0]!);
  const tables = new Set(Array.from(query.matchAll(/public\.(\w+)/g), ([, name]) => `'${name!}'`));
  const onShards = Array.from(signature.matchAll(/\b(\w+) (\w+)[,)]/g)).reduce(
    (text, [, name, type]) =>
      `regexp_replace(${text}, '\\m${name!}\\M', quote_literal(${name!}) || '::${type!}', 'g')`,
    `$query$${query.replaceAll("public.", "")}$query$`,
  );
  return `
  create or replace function ${signature} returns table (${columns}) language plpgsql
    set citus.node_connection_timeout = ${CONNECT_TIMEOUT_MS} ${HEAD}
    begin
      return query ${end === "" ? query : `select ${names.join(", ")} from (${query}) found ${end}`};
    exception when connection_exception then
      return query select ${names.map((name) => `one.${name}`).join(", ")}
        from parley_on_living_workers(array[${[...tables].join(", ")}], ${onShards}) found,
          json_to_record(found) as one(${columns}) ${end};
    end $$`;
}

/** Functions that look at the rows of all organizations; while a worker is down, at those on the others. */
export const SWEEP_FUNCTIONS: readonly string[] = [ON_LIVING_WORKERS, ...SWEEPS.map(definitionOf)];
