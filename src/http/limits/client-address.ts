import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import proxyAddr from "proxy-addr";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Whether an address is a loopback address. */
export const isLoopback = (address: string | undefined): boolean => LOOPBACK.test(address ?? "");

/** Some proxies add the port. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+)$/i;
/** Longest address with a zone, in characters. */
const MAX_LENGTH = 64;

/** The address in an entry of `X-Forwarded-For`; undefined if it is something else: a client may have sent it. */
function addressIn(entry: string): string | undefined {
  const [, ipv6, ipv4] = WITH_PORT.exec(entry) ?? [];
  const address = ipv6 ?? ipv4 ?? entry;
  return isIP(address) > 0 && address.length <= MAX_LENGTH ? address : undefined;
}

/**
 * Returns a function that finds the client's address: that of the socket, or the one in `X-Forwarded-For` if a
 * trusted proxy sent it.
 * @param trusted addresses and ranges of proxies
 */
export function clientAddress(trusted: string[]): (req: IncomingMessage) => string {
  const trust = proxyAddr.compile(trusted);
  return (req) => {
    const { remoteAddress = "" } = req.socket;
    if (req.headers["x-forwarded-for"] === undefined) return remoteAddress;
    const hops = proxyAddr.all(req, trust).map(addressIn); // the last one may be anything
    return hops.findLast((address) => address !== undefined) ?? remoteAddress;
  };
}

/** The key that requests are rate-limited by; undefined for clients without limits. */
export type SourceOf = (req: IncomingMessage) => string | undefined;

/** @param loopback whether clients on this machine are limited too */
export function sourceOf(trusted: string[], loopback: boolean): SourceOf {
  const address = clientAddress(trusted);
  return (req) => {
    const from = address(req);
    return isLoopback(from) && !loopback ? undefined : networkOf(from);
  };
}

/**
 * The network that an address is rate-limited by: an IPv4 address itself, or the /64 of an IPv6 address, because a
 * client usually owns a whole /64.
 */
function networkOf(address: string): string {
  const [plain = ""] = address.split("%", 1); // without the zone of a link-local address
  if (!ipaddr.isValid(plain)) return address;
  const parsed = ipaddr.process(plain);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const bytes = parsed.toByteArray();
  // IPv4 clients behind a translator (NAT64) share one /64, so the embedded IPv4 address counts.
  if (parsed.range() === "rfc6052") return new ipaddr.IPv4(bytes.slice(12)).toString();
  const groups = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(":")}::/64`;
}
