import type { Knex } from "knex";
import type { SwitchStep } from "../migrations/online-step";
import { servesWithout } from "./server-marks";

/** The cursor is the time since which no server of an older version has been seen. */
const SWITCH = `
  with told as materialized ( -- a Citus cluster accepts only immutable functions in the update
    select to_jsonb(since) as cursor, case when since <= now() - ? * interval '1 millisecond' then now() end as done_at
    from (
      select case when not ? then coalesce((cursor #>> '{}')::timestamptz, now()) end as since
      from online_steps where name = ?
    ) seen
  )
  update online_steps set cursor = told.cursor, done_at = coalesce(online_steps.done_at, told.done_at)
  from told where name = ? returning online_steps.done_at is not null as done`;

/**
 * Makes the switch if no server of an older version has been seen for `quietMs`: the connection of one may be broken
 * at the moment.
 * @returns whether the switch is made
 */
export async function trySwitch(db: Knex, { name, mark }: SwitchStep, quietMs: number): Promise<boolean> {
  await db.raw("insert into online_steps (name) values (?) on conflict (name) do nothing", [name]);
  const { rows } = await db.raw<{ rows: { done: boolean }[] }>(SWITCH, [
    quietMs,
    await servesWithout(db, mark),
    name,
    name,
  ]);
  return rows[0]!.done;
}
