import { hasValues } from "../../platform/database/has-values";
import type { Scope } from "../../platform/database/scope";
import type { WebhookDestinationInput } from "./destination-input";
import { WebhookDestinations, type WebhookDestination } from "./destinations";

/** A webhook destination of another service. */
export interface ImportedDestination extends WebhookDestinationInput {
  readonly id: string;
  /** Default: now. */
  readonly createdAt?: Date | null;
}

/**
 * Creates a destination with this id, or makes the one with this id equal to it. Omitted fields keep their values.
 * @throws BAD_USER_INPUT for a URL that is not allowed; PROJECT_NOT_FOUND
 */
export async function importDestination(
  scope: Scope,
  { id, createdAt, ...input }: ImportedDestination,
): Promise<WebhookDestination> {
  const destinations = scope.of(WebhookDestinations);
  const [row] = await scope.table("webhook_destinations").select("id").where({ id });
  if (!row) return destinations.create(input, { id, ...(createdAt && { createdAt }) });
  const stored = await destinations.byId(id);
  // An update would enable a destination that was disabled after failures.
  return hasValues(stored, input) ? stored : destinations.update(id, input);
}
