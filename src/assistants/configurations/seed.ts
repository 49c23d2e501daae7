import { currentDate } from "../../platform/clock";
import { encoded } from "../../platform/database/values/encoded";
import type { Scope } from "../../platform/database/scope";
import templates from "./templates.json";

/** Updates the shared table of templates to those of this version. */
export async function seedTemplates(scope: Scope): Promise<void> {
  for (const template of templates) {
    const row = { ...encoded({ ...template }), updatedAt: currentDate() };
    await scope.shared("templates").insert(row).onConflict("id").merge();
  }
}
