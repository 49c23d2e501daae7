import type { EventName } from "../../platform/database/tables/event-names";

/** A header of deliveries. */
export interface DeliveryHeader {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: { readonly type: "string"; readonly enum?: readonly string[]; readonly pattern?: string };
  readonly example: string;
}

const header = (
  name: string,
  description: string,
  example: string,
  schema: Omit<DeliveryHeader["schema"], "type"> = {},
  required = true,
): DeliveryHeader => ({ name, required, description, schema: { type: "string", ...schema }, example });

/** The headers of all events but those that name the event. */
const SHARED: readonly DeliveryHeader[] = [
  header(
    "webhook-chat-id",
    "Id of the chat or call; absent if the event belongs to none.",
    "0192f0c9-11aa-7c02-8d4e-6b7f3a2c5e90",
    {},
    false,
  ),
  header(
    "webhook-sample",
    "`true` in a sample or a test of a destination, which has a made-up payload; else absent.",
    "true",
    { enum: ["true"] },
    false,
  ),
  header(
    "webhook-id",
    "Id of the event, the same in each attempt and replay.",
    "0192f0c9-11b4-7d1f-9a35-1f0c8e6b2a77",
  ),
  header("webhook-timestamp", "Time of the attempt, in seconds since 1970.", "1763845152", {
    pattern: "^\\d+$",
  }),
  header(
    "webhook-signature",
    "Signatures as in Standard Webhooks, separated by spaces.",
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  ),
  header(
    "x-signature",
    "HMAC-SHA256 of the body, with the secret as key, in lowercase hexadecimal.",
    "602776a25e7882b20f084096e63eb9ba38bfbfce40948bb02281d7415fcff581",
    { pattern: "^[0-9a-f]{64}$" },
  ),
];

/** The headers of the deliveries of an event. */
export const deliveryHeaders = (name: EventName, version: number): readonly DeliveryHeader[] => [
  header("webhook-event", "Name of the event.", name, { enum: [name] }),
  header("webhook-schema", "Name of the event and version of its payload.", `${name}/${version}`, {
    enum: [`${name}/${version}`],
  }),
  ...SHARED,
];
