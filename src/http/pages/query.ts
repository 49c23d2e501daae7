import type { IncomingMessage } from "node:http";

/** The query parameters of a request. Express's own parser is disabled. */
export function queryOf({ url = "" }: IncomingMessage): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at));
}

/** The value of a query parameter; undefined unless it occurs exactly once. */
export function parameterOf(req: IncomingMessage, name: string): string | undefined {
  const [value, ...more] = queryOf(req).getAll(name);
  return more.length > 0 ? undefined : value;
}
