import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import proxyAddr from "proxy-addr";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Whether an address is this machine's own. */
export const isLoopback = (address: string | undefined): boolean => LOOPBACK.test(address ?? "");

/**
 * Where a request comes from: the address that its socket has, or that a trusted proxy names in `X-Forwarded-For`.
 * @param trusted addresses and ranges of proxies
 */
export function clientAddress(trusted: string[]): (req: IncomingMessage) => string {
  const trust = proxyAddr.compile(trusted);
  return (req) =>
    req.headers["x-forwarded-for"] === undefined ? (req.socket.remoteAddress ?? "") : proxyAddr(req, trust);
}

/** Names what requests are counted under; undefined for callers that are not limited. */
export type SourceOf = (req: IncomingMessage) => string | undefined;

/** @param loopback whether callers on this machine are limited too */
export function sourceOf(trusted: string[], loopback: boolean): SourceOf {
  const address = clientAddress(trusted);
  return (req) => {
    const from = address(req);
    return isLoopback(from) && !loopback ? undefined : networkOf(from);
  };
}

/** The network that an address is counted by: IPv4 by itself, IPv6 by its /64, of which one client has every address. */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%", 1); // without the zone of a link-local address
  if (!ipaddr.isValid(plain)) return address;
  const parsed = ipaddr.process(plain);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const bytes = parsed.toByteArray();
  // An IPv4 client behind a translator: all of them share one /64.
  if (parsed.range() === "rfc6052") return new ipaddr.IPv4(bytes.slice(12)).toString();
  const groups = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(":")}::/64`;
}
