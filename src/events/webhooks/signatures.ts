import { createHmac } from "node:crypto";

/**
 * The headers that sign a delivery: `x-signature`, the lower-case hexadecimal HMAC with SHA-256 of the body under the
 * newest secret, and those of Standard Webhooks, whose signature covers id and time too.
 * @param secrets the newest first; within a day of a change the former one too
 * @param timestamp seconds since 1970
 */
export function signatureHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  timestamp: number,
): Record<string, string> {
  const [newest = ""] = secrets;
  return {
    "x-signature": createHmac("sha256", newest).update(body, "utf8").digest("hex"),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets
      .map((secret) => `v1,${standard(secret, `${id}.${timestamp}.${body}`)}`)
      .join(" "),
  };
}

/** Standard Webhooks keys begin with `whsec_` and go on in base64; any other secret is its own bytes. */
function standard(secret: string, text: string): string {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = encoded === undefined ? Buffer.from(secret, "utf8") : Buffer.from(encoded, "base64");
  return createHmac("sha256", key).update(text, "utf8").digest("base64");
}
