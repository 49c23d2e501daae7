import { currentDate } from "../../platform/clock";
import type { EventName } from "../../platform/database/tables/event-names";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { checkPayload } from "../schemas/check-payload";
import { EVENT_CONTRACTS, TEST_COMPANION_ID, type EventPayload } from "../schemas/payloads";
import { bodyOf } from "./compose";

/** Records the example of an event, without a conversation. @returns its id */
export async function recordSample(scope: Scope, name: EventName): Promise<string> {
  const { example } = EVENT_CONTRACTS.find((event) => event.name === name)!;
  const payload = { ...example, companionId: TEST_COMPANION_ID, data: fresh(example.data) };
  checkPayload(name, payload);
  const id = newId();
  const event = { id, name, type: payload.type, assistantId: TEST_COMPANION_ID };
  await scope.insert("events", { ...event, body: bodyOf(payload) });
  return id;
}

/** With the current time, if it has a time of the event: receivers may refuse old events. */
const fresh = (data: EventPayload["data"]): object =>
  "timestamp" in data ? { ...data, timestamp: currentDate().toISOString() } : data;

/** Whether an event is a sample. A chat of an imported assistant could have the same `assistantId`. */
export const isSample = ({ assistantId, chatId }: { assistantId: string; chatId: string | null }): boolean =>
  chatId === null && assistantId === TEST_COMPANION_ID;
