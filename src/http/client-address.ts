import type { IncomingMessage } from "node:http";
import proxyAddr from "proxy-addr";

/**
 * Where a request comes from: the address that its socket has, or that a trusted proxy names in `X-Forwarded-For`.
 * @param trusted addresses and ranges of proxies
 */
export function clientAddress(trusted: string[]): (req: IncomingMessage) => string {
  const trust = proxyAddr.compile(trusted);
  return (req) =>
    req.headers["x-forwarded-for"] === undefined ? (req.socket.remoteAddress ?? "") : proxyAddr(req, trust);
}
