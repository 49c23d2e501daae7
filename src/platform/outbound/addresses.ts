import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Addresses that outbound requests may reach in addition to public ones: host names, and ranges such as `10.0.0.0/8`. */
export class AddressRules {
  private readonly ranges = new BlockList();
  private readonly names = new Set<string>();

  /** @param allowed host names, IP addresses and ranges */
  constructor(allowed: readonly string[]) {
    for (const entry of allowed) this.allow(entry);
  }

  /** Whether connections to this address are allowed. @param host the name that resolved to the address */
  permits(address: string, host: string): boolean {
    if (this.names.has(host.toLowerCase())) return true;
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    return (
      isPublic(address) || this.ranges.check(plain(address), isIP(plain(address)) === 6 ? "ipv6" : family)
    );
  }

  private allow(entry: string): void {
    const [address = "", bits] = entry.split("/");
    const version = isIP(address);
    if (version === 0) this.names.add(entry.toLowerCase());
    else
      this.ranges.addSubnet(
        address,
        Number(bits ?? (version === 6 ? 128 : 32)),
        version === 6 ? "ipv6" : "ipv4",
      );
  }
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
const plain = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;

/** The globally routable part of IPv6, 2000::/3. */
const GLOBAL = ipaddr.parse("2000::");

/** Whether an address is public unicast and does not embed another address. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const plain = ipaddr.process(address);
  // ipaddr.js recognizes all special ranges, including IPv4-mapped, NAT64, 6to4, Teredo and documentation ranges.
  return plain.range() === "unicast" && (plain.kind() === "ipv4" || plain.match(GLOBAL, 3));
}
