import { isDeepStrictEqual } from "node:util";
import { currentDate } from "../../platform/clock";
import { encoded } from "../../platform/database/values/encoded";
import type { Scope } from "../../platform/database/scope";
import templates from "./templates.json";

/** Updates the shared table of templates to those of this version. Writes only what differs: the disk may be full. */
export async function seedTemplates(scope: Scope): Promise<void> {
  const stored = new Map((await scope.shared("templates")).map((row) => [row.id, Object.entries(row)]));
  for (const template of templates) {
    const values: ReadonlyMap<string, unknown> = new Map(stored.get(template.id));
    if (Object.entries(template).every(([name, value]) => isSame(values.get(name), value))) continue;
    const row = { ...encoded({ ...template }), updatedAt: currentDate() };
    await scope.shared("templates").insert(row).onConflict("id").merge();
  }
}

/** Whether a value of a row is this one, as JSON. */
const isSame = (stored: unknown, value: unknown): boolean =>
  stored !== undefined && isDeepStrictEqual(JSON.parse(JSON.stringify(stored)), value);
