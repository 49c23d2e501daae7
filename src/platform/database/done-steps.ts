import type { Scope } from "./scope";
import { statement } from "./statement";

interface Look {
  readonly at: number;
  readonly areDone: Promise<boolean>;
}

/** Latest check of each set of steps, by the ports of its database. */
const looks = new WeakMap<Scope["ports"], Map<string, Look>>();
/** Shortest interval between checks of the same steps, which may take hours. */
const LOOK_EVERY_MS = 1_000;

const VALID_INDEXES = statement<{ name: string }>(({ db, $ }) =>
  db.raw(
    `select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
     where $1::text is not null and relnamespace = 'public'::regnamespace and relname = any(?) and indisvalid`,
    [$(1)],
  ),
);

/** Whether online steps are done, for statements that depend on them. A name is that of an index or of a recorded step. */
export async function areStepsDone(scope: Scope, names: readonly string[]): Promise<boolean> {
  const known = looks.get(scope.ports) ?? new Map<string, Look>();
  looks.set(scope.ports, known);
  const key = names.join();
  const last = known.get(key);
  if (last && ((await last.areDone) || performance.now() - last.at < LOOK_EVERY_MS)) return last.areDone;
  const areDone = look(scope, names);
  known.set(key, { at: performance.now(), areDone });
  return areDone.catch((error: unknown) => {
    known.delete(key);
    throw error;
  });
}

async function look(scope: Scope, names: readonly string[]): Promise<boolean> {
  const [indexes, recorded] = await Promise.all([
    scope.read(VALID_INDEXES, [names]),
    scope
      .shared("online_steps")
      .select("name")
      .whereIn("name", [...names])
      .whereNotNull("doneAt"),
  ]);
  const done = new Set([...indexes, ...recorded].map(({ name }) => name));
  return names.every((name) => done.has(name));
}
