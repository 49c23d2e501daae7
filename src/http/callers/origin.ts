import type { IncomingMessage } from "node:http";

/** The origin of the requesting page; undefined if it is our own or the browser sends none. */
export function foreignOrigin({ headers }: IncomingMessage, publicUrl: () => string): string | undefined {
  const { origin, host } = headers;
  if (origin === undefined) return undefined;
  const own = headers["sec-fetch-site"] === "same-origin" || origin === `http://${host}`;
  return own || origin === new URL(publicUrl()).origin ? undefined : origin;
}
