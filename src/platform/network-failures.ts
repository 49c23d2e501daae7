const CODES =
  /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EPROTO|ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/;

/** Whether an error says that a connection failed or that the other side did not prove who it is. */
export const isNetworkFailure = ({ name, code = "" }: { readonly name?: string; readonly code?: string }) =>
  name === "TimeoutError" || CODES.test(code);
