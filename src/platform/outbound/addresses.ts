import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Which addresses outbound requests may reach beside public ones: hosts by name, and ranges such as `10.0.0.0/8`. */
export class AddressRules {
  private readonly ranges = new BlockList();
  private readonly names = new Set<string>();

  /** @param allowed host names, addresses and ranges */
  constructor(allowed: readonly string[]) {
    for (const entry of allowed) this.allow(entry);
  }

  /** Whether a connection to this address may be made; `host` is the name that it was found under. */
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

/** An IPv4 address that was written as an IPv6 one, as itself. */
const plain = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;

/** All that is given out of IPv6 for use by everybody: 2000::/3. */
const GLOBAL = ipaddr.parse("2000::");

/** Public unicast, and nothing that carries another address inside. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const plain = ipaddr.process(address);
  // ipaddr.js names every special range, IPv4-mapped, NAT64, 6to4, Teredo and documentation ranges among them.
  return plain.range() === "unicast" && (plain.kind() === "ipv4" || plain.match(GLOBAL, 3));
}
