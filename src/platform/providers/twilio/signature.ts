import { createHmac } from "node:crypto";
import { sameText } from "../../crypto";
import type { Parameters } from "../../ports/telephony";

/** Twilio's signature of a request: HMAC-SHA-1 with the account's token over the address and all parameters, sorted by name. */
export function signatureOf(authToken: string, url: string, parameters: Parameters): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of parameters) values.set(name, (values.get(name) ?? new Set()).add(value));
  // Sorted by code unit. If a name is repeated, each different value counts once.
  const text = [...values.keys()]
    .sort()
    .flatMap((name) => [...values.get(name)!].sort().map((value) => name + value))
    .join("");
  return createHmac("sha1", authToken)
    .update(url + text, "utf8")
    .digest("base64");
}

/** Whether a signature is valid. Twilio signs the address with or without its port. */
export const isSigned = (
  authToken: string,
  url: string,
  parameters: Parameters,
  signature: string,
): boolean =>
  [...new Set([url, withPort(url), withoutPort(url)])]
    .map((one) => sameText(signatureOf(authToken, one, parameters), signature))
    .includes(true);

const AUTHORITY = /^(https?:\/\/[^/?#]*?)(?::\d+)?(?=[/?#]|$)/i;

const withoutPort = (url: string): string => url.replace(AUTHORITY, "$1");

function withPort(url: string): string {
  const port = new URL(url).port || (/^https:/i.test(url) ? "443" : "80");
  return url.replace(AUTHORITY, `$1:${port}`);
}
