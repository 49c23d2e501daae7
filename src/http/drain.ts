import type { Server, ServerResponse } from "node:http";
import { Server as Listening } from "node:net";

/** Time for an idle keep-alive connection to deliver a request that is under way, in ms. */
const KEEP_ALIVE_GRACE_MS = 250;

/** Shuts a server down gracefully: requests that it has started to read are answered. */
export class Drain {
  private readonly running = new Set<ServerResponse>();
  private draining = false;

  constructor(private readonly server: Server) {
    server.prependListener("request", (_request, response: ServerResponse) => {
      if (this.draining) closeAfter(response);
      this.running.add(response);
      response.once("close", () => this.running.delete(response));
    });
  }

  readonly isDraining = (): boolean => this.draining;

  /** Stops accepting connections; resolves when all running requests are answered. */
  async begin(): Promise<void> {
    this.draining = true;
    this.server.keepAliveTimeout = 1;
    for (const response of this.running) closeAfter(response);
    // Not http.Server.close, which closes idle connections at once although a request may be under way on one.
    const closed = new Promise<void>((resolve) =>
      Listening.prototype.close.call(this.server, () => resolve()),
    );
    const settled = setTimeout(() => this.server.closeIdleConnections(), KEEP_ALIVE_GRACE_MS);
    await closed;
    clearTimeout(settled);
  }
}

/** Closes the connection after this response, so that it brings no further requests. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader("Connection", "close");
}
