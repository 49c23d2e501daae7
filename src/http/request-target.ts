import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import type { RequestHandler } from "express";
import { invalid, quoted, type DomainError } from "../platform/errors";

/** A host name or IPv4 address (RFC 3986, 3.2.2), or the brackets of an IPv6 address; then a port. All may be empty. */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*|\[([^\]]+)\])(?::\d*)?$/i;
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
  const problem = problemOfHost(req);
  if (problem) throw problem;
  next();
};

/** The error of a request whose header Host is missing, repeated or invalid (RFC 9112, 3.2). */
export function problemOfHost({ rawHeaders, httpVersion }: IncomingMessage): DomainError | undefined {
  const message = messageFor(hostsIn(rawHeaders), httpVersion);
  return message === undefined ? undefined : invalid([{ path: "Host", message }]);
}

/** Node takes the first of several headers, a proxy in front of it perhaps the last one. */
function messageFor([host, ...others]: readonly string[], httpVersion: string): string | undefined {
  if (host === undefined) return httpVersion === "1.1" ? "is required" : undefined;
  if (others.length > 0) return "must be sent once";
  const [, ipv6] = HOST.exec(host) ?? ["", ""];
  if (ipv6 === undefined || isIPv6(ipv6)) return undefined;
  return `must be a host name or IP address, with or without a port; got ${quoted(host)}`;
}

function hostsIn(headers: readonly string[]): string[] {
  const hosts: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts.push(headers[at + 1]!);
  }
  return hosts;
}
