import type { Knex } from "knex";
import type { SwitchStep } from "./migrations/online-step";
import { servesWithout } from "./server-marks";

/** The cursor is the time since which no server of an older version has been seen. */
const SWITCH = `
  with seen as (
    select case when not ? then coalesce((cursor #>> '{}')::timestamptz, now()) end as since
    from online_steps where name = ?
  ), told as (select since, to_jsonb(since) as cursor from seen)
  update online_steps set cursor = told.cursor,
    done_at = coalesce(done_at, case when told.since <= now() - ? * interval '1 millisecond' then now() end)
  from told where name = ? returning done_at is not null as done`;

/**
 * Makes the switch if no server of an older version has been seen for `quietMs`: the connection of one may be broken
 * at the moment.
 * @returns whether the switch is made
 */
export async function trySwitch(db: Knex, { name, mark }: SwitchStep, quietMs: number): Promise<boolean> {
  await db.raw("insert into online_steps (name) values (?) on conflict (name) do nothing", [name]);
  const { rows } = await db.raw<{ rows: { done: boolean }[] }>(SWITCH, [
    await servesWithout(db, mark),
    name,
    quietMs,
    name,
  ]);
  return rows[0]!.done;
}
