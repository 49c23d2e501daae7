import { DomainError, invalid, type Problem } from "../../platform/errors";

/**
 * Normalizes origins to the form that browsers send (scheme, host and port in lower case) and removes duplicates.
 * @throws BAD_USER_INPUT with a problem per invalid entry
 */
export function originsOf(entries: readonly string[], path = "origins"): string[] {
  const problems: Problem[] = [];
  const origins = entries.map((entry, index) => {
    const origin = originOf(entry);
    if (origin === undefined)
      problems.push({
        path: `${path}.${index}`,
        message: "must be an origin such as https://www.example.com or http://localhost:3000, without a path",
      });
    return origin ?? "";
  });
  if (problems.length > 0) throw invalid(problems);
  return [...new Set(origins)];
}

/**
 * Rejects web pages of sites that an assistant does not allow. An empty list allows all sites.
 * @param origin undefined if the request has none
 * @throws FORBIDDEN
 */
export function checkOrigin(allowedOrigins: readonly string[], origin: string | undefined): void {
  if (origin === undefined || allowedOrigins.length === 0 || allowedOrigins.includes(origin)) return;
  throw new DomainError(
    "FORBIDDEN",
    `Pages of ${origin.slice(0, 200)} cannot show this assistant: add the origin with updateAllowedOrigins.`,
  );
}

/** Origins become part of a header, so other characters are not allowed. */
const ORIGIN = /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?$/;

/** The form of an origin that browsers send; undefined for a text that is none. */
export function originOf(entry: string): string | undefined {
  const text = entry.trim();
  if (!/^https?:\/\/[^/?#@\\\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  const { origin } = new URL(text);
  return ORIGIN.test(origin) ? origin : undefined;
}
