/** The URL by which programs on this machine reach a server. */
export function localUrl(host: string, port: number): string {
  const [address = ""] = host.split("%", 1); // a URL cannot contain the zone of an IPv6 address
  const isAny = address === "0.0.0.0" || address === "::";
  const name = isAny ? "localhost" : address.includes(":") ? `[${address}]` : address;
  return `http://${name}:${port}`;
}
