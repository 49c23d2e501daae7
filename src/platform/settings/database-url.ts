import { quoted } from "../errors";
import { nearest } from "../nearest";

/** Values of parameters about TLS: the driver takes others for "verify", or for "no TLS". */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  sslmode: ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"],
  ssl: ["true", "1", "0", "no-verify"],
  sslnegotiation: ["postgres", "direct"],
  uselibpqcompat: ["true", "false"],
};

/** Parameters that the driver reads. It ignores all others. */
const PARAMETERS = [
  ...Object.keys(VALUES),
  ...["sslrootcert", "sslcert", "sslkey"],
  ...["user", "password", "host", "port", "options", "client_encoding"],
  ...["application_name", "fallback_application_name"],
  ...["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "query_timeout"],
  ...["keepAlive", "keepAliveInitialDelayMillis", "connectionTimeoutMillis", "enableChannelBinding"],
];

/** The remedy for a URL whose parts begin and end at the wrong characters. */
export const ENCODE_PASSWORD =
  "characters such as @ : / ? # in the user or password must be percent-encoded, such as %40 for @";

const NOT_VALID = `is not a valid URL: ${ENCODE_PASSWORD}`;

const BEGINNING = /^postgres(?:ql)?:\/\//;
/**
 * A URL with its address. The part before the address ends at the first "@"; no other part has one, and none has a "#".
 */
const REGULAR = /^[^/?#@]*\/\/(?:[^/?#@]*@)?([^/?#@]*)(?:[/?][^#@]*)?$/;

/** An address with a port, which may belong to a password if the host name is missing. */
const WITH_PORT = /^(?:\[[^\]]*\]|[^:[]*):([^]+)$/;
const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

/** Why a URL cannot name a database; undefined if it can. Repeats no part that may belong to a password. */
export function databaseUrlProblem(text: string): string | undefined {
  if (!BEGINNING.test(text)) return "must be a URL that begins with postgres:// or postgresql://";
  const [, address] = REGULAR.exec(text) ?? [];
  if (address === undefined) return NOT_VALID;
  // The driver takes a list of hosts, which libpq accepts, for one name.
  if (address.includes(","))
    return "names several hosts: name one address that follows the primary (see Fail-over in docs/operations.md)";
  const [, port] = WITH_PORT.exec(address) ?? [];
  if (port !== undefined && !isPort(port)) return "must have a whole number from 1 to 65535 as port, or none";
  if (!URL.canParse(text)) return NOT_VALID;
  for (const [name, value] of new URL(text).searchParams) {
    if (!PARAMETERS.includes(name)) return unknownParameter(name);
    const values = VALUES[name];
    if (values && !values.includes(value))
      return `must have one of ${values.join(", ")} as ${name}; got ${quoted(value)}`;
  }
  return undefined;
}

/**
 * The URL with `sslmode=verify-full` in place of the modes that the driver takes for it. It warns about them, because
 * its next version will not verify certificates with them; `uselibpqcompat=true` asks for that now.
 */
export function withVerification(url: string): string {
  if (/[?&]uselibpqcompat=true(?:&|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, "$1verify-full");
}

function unknownParameter(name: string): string {
  const meant = nearest(name, PARAMETERS);
  return meant === undefined
    ? `has the parameter ${quoted(name)}, which has no effect: remove it`
    : `has the unknown parameter ${quoted(name)}. Did you mean ${meant}?`;
}
