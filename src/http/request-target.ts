import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { invalid } from "../platform/errors";

const ABSOLUTE = /^https?:\/\/[^/?]*/i;

/** Rewrites a request target in absolute form to a path. Its host takes the place of the header Host (RFC 9112, 3.2.2). */
export function useOriginForm(req: IncomingMessage): void {
  const target = req.url!; // set for requests of clients
  if (target.startsWith("/")) return;
  const [origin] = ABSOLUTE.exec(target) ?? [];
  if (origin === undefined || !URL.canParse(target)) return;
  const path = target.slice(origin.length);
  req.url = path.startsWith("/") ? path : `/${path}`;
  req.headers.host = new URL(origin).host;
}

/** Checks the header Host. Node's own check is disabled, because it answers with an empty body. */
export const requireHost: RequestHandler = (req, _res, next) => {
  if (!req.headers.host && req.httpVersion === "1.1")
    throw invalid([{ path: "Host", message: "is required" }]);
  if (hostsIn(req.rawHeaders) > 1) throw invalid([{ path: "Host", message: "must be sent once" }]);
  next();
};

/** Node takes the first of several headers, a proxy in front of it perhaps the last one. */
function hostsIn(headers: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}
