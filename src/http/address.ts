import { createServer, type Server } from "node:net";
import type { Config } from "../platform/settings/config";
import { mistake } from "../platform/mistake";
import { localUrl } from "../platform/settings/local-url";

type Address = Pick<Config, "HOST" | "PORT">;

export const listen = (server: Server, { HOST, PORT }: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(PORT, HOST, resolve);
  });

/** The remedy if an ordinary user may not listen on a low port, or the machine does not have the address. */
function advice(code: string | undefined, port: number): string {
  if (code === "EACCES" && port < 1024)
    return " Only root may use ports below 1024: set PORT to a higher one, and put a reverse proxy in front of it.";
  return /^(ENOTFOUND|EAI_AGAIN|EADDRNOTAVAIL|EINVAL)$/.test(code ?? "")
    ? " Set HOST to an address of this machine without a scheme or a port, such as 127.0.0.1, or to 0.0.0.0 for all of them."
    : "";
}

/** @throws Error that says why the address cannot be listened on */
export async function tryAddress(address: Address): Promise<void> {
  const server = createServer();
  await listen(server, address).catch(({ code, message }: NodeJS.ErrnoException) => {
    const { HOST, PORT } = address;
    const problem = new Error(
      code === "EADDRINUSE"
        ? `The address ${HOST}:${PORT} is already in use. Set PORT to another port, or stop the process using it.`
        : `HOST ${HOST} and PORT ${PORT} cannot be used: ${message}.${advice(code, PORT)}`,
    );
    throw /^(EACCES|ENOTFOUND|EINVAL)$/.test(code ?? "") ? mistake(problem) : problem;
  });
  await new Promise((resolve) => server.close(resolve));
}

/** The address that a server listens on, as a URL. */
export function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return localUrl(host, port);
}
