import { isDeepStrictEqual } from "node:util";
import { currentDate } from "../../platform/clock";
import { encoded } from "../../platform/database/values/encoded";
import type { Scope } from "../../platform/database/scope";
import templates from "./templates.json";

/** Updates the shared table of templates to those of this version. Writes only what differs: the disk may be full. */
export async function seedTemplates(scope: Scope): Promise<void> {
  const stored = new Map((await scope.shared("templates")).map((row) => [row.id, row]));
  for (const template of templates) {
    if (hasValues(stored.get(template.id), template)) continue;
    const row = { ...encoded({ ...template }), updatedAt: currentDate() };
    await scope.shared("templates").insert(row).onConflict("id").merge();
  }
}

/** Whether a row has these values, as JSON. */
function hasValues(row: object | undefined, values: object): boolean {
  const found = new Map(Object.entries(row ?? {}));
  const same = Object.fromEntries(Object.keys(values).map((name) => [name, found.get(name) as unknown]));
  return isDeepStrictEqual(JSON.parse(JSON.stringify(same)), JSON.parse(JSON.stringify(values)));
}
