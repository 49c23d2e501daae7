import type { EventName } from "../../platform/database/event-names";
import type { New } from "../../platform/database/rows";

export interface WebhookDestinationInput {
  readonly url: string;
  readonly secret: string;
  readonly name?: string | null;
  readonly key?: string | null;
  readonly projectId?: string | null;
  /** Null and an empty list both stand for no choice. */
  readonly events?: readonly EventName[] | null;
}

/** The columns that an imported destination keeps. */
export type KeptColumns = Pick<New<"webhook_destinations">, "id" | "createdAt">;

/** The stored choice of events. */
export const choiceOf = (events: readonly EventName[] | null | undefined): readonly EventName[] | null =>
  events == null || events.length === 0 ? null : [...new Set(events)];
