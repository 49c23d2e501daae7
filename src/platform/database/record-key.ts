import { DomainError, quoted } from "../errors";
import type { Scope } from "./scope";

type Keyed = "assistants" | "workflows" | "webhook_destinations" | "deployments";

const DUPLICATE = "23505";
/** As a message names a record of the table. */
const NOUNS: Readonly<Record<Keyed, string>> = {
  assistants: "assistant",
  workflows: "workflow",
  webhook_destinations: "webhook destination",
  deployments: "deployment",
};

/**
 * Makes a change that may give a record a key. The index that keeps keys unique is built while servers run, so this looks
 * for another record first.
 * @param id of a record that exists
 * @throws CONFLICT if another record of the table has the key
 */
export async function withFreeKey<T>(
  scope: Scope,
  table: Keyed,
  { key, id = "" }: { readonly key?: string | null | undefined; readonly id?: string },
  change: () => Promise<T>,
): Promise<T> {
  if (key == null) return change();
  const others = scope.table(table).where({ key }).whereNot({ id });
  const [other] = await (table === "assistants" ? others.whereNull("deletedAt") : others).limit(1);
  if (other) throw taken(table, key);
  try {
    return await change();
  } catch (error) {
    throw (error as { code?: unknown }).code === DUPLICATE ? taken(table, key) : error;
  }
}

function taken(table: Keyed, key: string): DomainError {
  const message = `Another ${NOUNS[table]} has the key ${quoted(key)}.`;
  return new DomainError("CONFLICT", message, [
    { path: "key", message: "is already used by another record" },
  ]);
}
