import type { Scope } from "./scope";
import { statement } from "./statement";

/** Indexes that were found, by the ports of the database, and when others were looked for last. */
const found = new WeakMap<Scope["ports"], { readonly valid: Set<string>; lookedAt: number }>();
/** Indexes are built by an online step, which may take hours. */
const LOOK_EVERY_MS = 1_000;

const VALID = statement<{ name: string }>(({ db, $ }) =>
  db.raw(
    `select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
     where $1::text is not null and relnamespace = 'public'::regnamespace and relname = any(?) and indisvalid`,
    [$(1)],
  ),
);

/** Whether indexes are built, for statements that would be slow without them. */
export async function hasIndexes(scope: Scope, names: readonly string[]): Promise<boolean> {
  const known = found.get(scope.ports) ?? { valid: new Set<string>(), lookedAt: -LOOK_EVERY_MS };
  found.set(scope.ports, known);
  const areAll = () => names.every((name) => known.valid.has(name));
  if (areAll() || performance.now() - known.lookedAt < LOOK_EVERY_MS) return areAll();
  known.lookedAt = performance.now();
  for (const { name } of await scope.read(VALID, [names])) known.valid.add(name);
  return areAll();
}
