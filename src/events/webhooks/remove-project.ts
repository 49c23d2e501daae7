import { Projects } from "../../account/projects/projects";
import type { Scope } from "../../platform/database/scope";
import { removeDeliveriesLater } from "./remove-deliveries";

/** Deletes a project with its webhook destinations, whose deliveries a job removes. @throws PROJECT_NOT_FOUND */
export async function removeProject(scope: Scope, id: string): Promise<{ id: string }> {
  return scope.transaction(async (scope) => {
    const destinations = await scope.table("webhook_destinations").where({ projectId: id }).select("id");
    await removeDeliveriesLater(
      scope,
      destinations.map((row) => row.id),
    );
    return scope.of(Projects).remove(id);
  });
}
