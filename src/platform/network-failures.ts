/** Codes of failed connections, and of certificates that do not prove who the other side is. */
export const NETWORK_FAILURES =
  /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EPROTO|ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/;

/** Whether an error says that a connection failed or that the other side did not prove who it is. */
export const isNetworkFailure = ({ name, code = "" }: { readonly name?: string; readonly code?: string }) =>
  name === "TimeoutError" || NETWORK_FAILURES.test(code);

/** The message of a failure. If a host has several addresses, Node reports each failure without an overall message. */
export function reasonOf(error: unknown): string {
  const { message, errors = [], name } = error as Partial<AggregateError>;
  return message || errors.map((each) => (each as Error).message).join("; ") || String(name);
}
