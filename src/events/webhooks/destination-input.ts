import type { EventName } from "../../platform/database/tables/event-names";

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
export interface KeptColumns {
  readonly id: string;
  readonly createdAt?: Date;
  readonly updatedAt?: Date;
  readonly enabled?: boolean;
}

/** The stored choice of events. */
export const choiceOf = (events: readonly EventName[] | null | undefined): readonly EventName[] | null =>
  events == null || events.length === 0 ? null : [...new Set(events)];
