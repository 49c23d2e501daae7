import { hasValues } from "../../platform/database/values/has-values";
import { timesOfNew, type KeptTimes } from "../../platform/database/kept-times";
import { countAgain } from "../events/delivery-sums";
import type { Scope } from "../../platform/database/scope";
import { Deliveries } from "./deliveries";
import type { WebhookDestinationInput } from "./destination-input";
import { WebhookDestinations, type WebhookDestination } from "./destinations";

/** A webhook destination of another service. */
export interface ImportedDestination extends WebhookDestinationInput, KeptTimes {
  readonly id: string;
  /** Default: true, or as it is here. */
  readonly enabled?: boolean;
}

/**
 * Creates a destination with this id, or updates the one with this id to match. Omitted fields keep their values.
 * Runs in a transaction.
 * @throws BAD_USER_INPUT for a URL that is not allowed; PROJECT_NOT_FOUND
 */
export async function importDestination(
  scope: Scope,
  { id, createdAt, updatedAt, enabled, ...input }: ImportedDestination,
): Promise<WebhookDestination> {
  const destinations = scope.of(WebhookDestinations);
  const [row] = await scope.table("webhook_destinations").select("id").where({ id });
  const state = enabled !== undefined && { enabled };
  if (!row) {
    const created = await destinations.create(input, {
      id,
      ...timesOfNew({ createdAt, updatedAt }),
      ...state,
    });
    await countAgain(scope, id);
    return created;
  }
  const stored = await destinations.byId(id);
  const kept = { ...(updatedAt && { updatedAt }), ...state };
  // An update would enable a destination that was disabled after failures.
  if (hasValues(stored, { ...input, ...kept })) return stored;
  const changed = await destinations.update(id, input, kept);
  if (!changed.enabled) await scope.of(Deliveries).failPending(id);
  return changed;
}
