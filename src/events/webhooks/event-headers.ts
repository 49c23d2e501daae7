import { isSample } from "../events/samples";
import { EVENT_VERSIONS, type EventName } from "../../platform/database/tables/event-names";

/** The fields of an event that its deliveries name in headers. */
export interface DeliveredEvent {
  readonly name: EventName;
  readonly chatId: string | null;
  readonly assistantId: string;
}

/** Visible ASCII: other characters make a header invalid, and the delivery would fail. */
const SAFE_VALUE = /^[\x21-\x7e]{1,255}$/;

/**
 * The headers that say what a delivery contains: `webhook-event`, `webhook-schema` (event and version),
 * `webhook-chat-id` unless the event belongs to no conversation, and `webhook-sample` if it is made up. A value that is
 * unknown or unsafe is left out.
 */
export function eventHeaders(event: DeliveredEvent): Record<string, string> {
  const { name, chatId } = event;
  const version: number | undefined = EVENT_VERSIONS[name];
  const values = {
    "webhook-event": name,
    // A newer server can have recorded an event that this one does not know.
    "webhook-schema": version === undefined ? null : `${name}/${version}`,
    "webhook-chat-id": chatId,
    "webhook-sample": isSample(event) ? "true" : null,
  };
  return Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, string] => entry[1] !== null && SAFE_VALUE.test(entry[1]),
    ),
  );
}
