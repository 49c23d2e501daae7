import { currentDate } from "../../platform/clock";
import { encoded } from "../../platform/database/encoded";
import type { Scope } from "../../platform/database/scope";
import templates from "./templates.json";

/** Brings the shared table of templates to what this version of the service ships. */
export async function seedTemplates(scope: Scope): Promise<void> {
  for (const template of templates) {
    const row = { ...encoded({ ...template }), updatedAt: currentDate() };
    await scope.shared("templates").insert(row).onConflict("id").merge();
  }
}
