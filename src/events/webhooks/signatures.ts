import { randomText } from "../../platform/crypto";
import { createHmac } from "node:crypto";

/**
 * The headers that sign a delivery: `x-signature` is the HMAC-SHA-256 of the body with the newest secret, in lower-case
 * hexadecimal. The `webhook-*` headers follow Standard Webhooks; their signature covers the id and time too.
 * @param secrets newest first
 * @param timestamp in seconds since 1970
 */
export function signatureHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  timestamp: number,
): Record<string, string> {
  const [newestSecret = ""] = secrets;
  return {
    "x-signature": createHmac("sha256", newestSecret).update(body, "utf8").digest("hex"),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets
      .map((secret) => `v1,${standardSignature(secret, `${id}.${timestamp}.${body}`)}`)
      .join(" "),
  };
}

/** Standard Webhooks secrets are `whsec_` followed by base64. Any other secret is used as UTF-8 bytes. */
function standardSignature(secret: string, text: string): string {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = encoded === undefined ? Buffer.from(secret, "utf8") : Buffer.from(encoded, "base64");
  return createHmac("sha256", key).update(text, "utf8").digest("base64");
}

/** A new random signing secret of 192 bits. It is not stored. */
export const newWebhookSecret = (): string =>
  `whsec_${Buffer.from(randomText(24), "base64url").toString("base64")}`;
