import type { IncomingMessage } from "node:http";

/** The origin of the page that a request comes from, unless it is our own; undefined where no browser says one. */
export function foreignOrigin({ headers }: IncomingMessage, publicUrl: string): string | undefined {
  const { origin, host } = headers;
  const own = headers["sec-fetch-site"] === "same-origin" || origin === `http://${host}`;
  return own || origin === new URL(publicUrl).origin ? undefined : origin;
}
