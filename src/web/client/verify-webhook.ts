import type { webhooks } from "./generated/rest";
import { ParleyError } from "./parley-error";

/** Name of an event, such as `session-start`. */
export type EventName = keyof webhooks;

type Received<N extends EventName> = NonNullable<
  webhooks[N]["post"]["requestBody"]
>["content"]["application/json"];

/** The body of a delivery. `event` says which type `data` has. */
export type WebhookEvent<N extends EventName = EventName> = { [Name in N]: Received<Name> }[N];

/** The content of an event. */
export type EventData<N extends EventName = EventName> = { [Name in N]: Received<Name>["data"] }[N];

/** A delivery whose signature is right. */
export type VerifiedWebhook<N extends EventName = EventName> = {
  [Name in N]: WebhookEvent<Name> & {
    /** Id of the event, the same in each attempt and replay. Ignore one that you have handled. */
    readonly id: string;
    /** Time of this attempt. */
    readonly sentAt: Date;
    /** Id of the conversation; undefined if the event belongs to none. The signature does not cover it. */
    readonly chatId: string | undefined;
    /** Whether the event is made up, to test the receiver. The signature does not cover it. */
    readonly isSample: boolean;
  };
}[N];

type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request of another framework than Fetch: `body` are the bytes or the text as received, not parsed. */
export interface ReceivedRequest {
  readonly headers: Headers | Fields;
  readonly body: string | Uint8Array;
}

export interface VerifyOptions {
  /** Largest difference between the clocks of both machines, in seconds. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
}

const refuse = (message: string): never => {
  throw new ParleyError(message, { code: "INVALID_WEBHOOK" });
};

/** The text of a body, for which the signature was made. */
async function bodyOf(request: Request | ReceivedRequest): Promise<string> {
  if ("text" in request) return request.text();
  const { body } = request as { body: unknown };
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  return refuse(
    "The body must be a string or bytes as received. Turn off the parser of your framework for this path.",
  );
}

/** Secrets of Standard Webhooks are `whsec_` and base64. Any other is its UTF-8 bytes. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  return encoded === undefined
    ? new TextEncoder().encode(secret)
    : Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
}

const HMAC = { name: "HMAC", hash: "SHA-256" };

/** Whether one of the signatures was made with the secret. The comparison takes equally long for all. */
async function isSigned(secret: string, signatures: string, text: string): Promise<boolean> {
  const key = await crypto.subtle.importKey("raw", keyOf(secret), HMAC, false, ["verify"]);
  for (const signature of signatures.split(" ")) {
    const encoded = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1];
    if (encoded === undefined) continue;
    const bytes = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
    if (await crypto.subtle.verify(HMAC, key, bytes, new TextEncoder().encode(text))) return true;
  }
  return false;
}

/**
 * Verifies the signature of a delivery and returns its event.
 * @param secret secret of the webhook destination, or several while you change it
 * @throws ParleyError INVALID_WEBHOOK, whose message says what is wrong: answer 403
 */
export async function verifyWebhook(
  request: Request | ReceivedRequest,
  secret: string | readonly string[],
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<VerifiedWebhook> {
  const { headers } = request;
  const header = (name: string): string | undefined => {
    const { get } = headers as { get?: unknown };
    const value = typeof get === "function" ? (headers as Headers).get(name) : (headers as Fields)[name];
    return value?.toString();
  };
  const secrets = [secret].flat().filter(Boolean); // undefined, too: an environment variable may be missing
  if (secrets.length === 0) refuse("The secret of the webhook destination is missing.");
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(
    (name) => header(name) ?? refuse(`The header ${name} is missing.`),
  ) as [string, string, string];
  const body = await bodyOf(request);
  const verified = await Promise.all(
    secrets.map((one) => isSigned(one, signatures, `${id}.${timestamp}.${body}`)),
  );
  if (!verified.includes(true)) refuse("The signature does not fit the secret and the body.");
  const sentAt = new Date(Number(timestamp) * 1_000);
  if (Math.abs(Date.now() - sentAt.getTime()) > toleranceSeconds * 1_000)
    refuse("The delivery is too old, or the clock of this machine is wrong.");
  const event = JSON.parse(body) as WebhookEvent;
  return {
    ...event,
    id,
    sentAt,
    chatId: header("webhook-chat-id"),
    isSample: header("webhook-sample") === "true",
  } as VerifiedWebhook;
}
