import type { Server, ServerResponse } from "node:http";
import { Server as Listening } from "node:net";

/** How long a kept connection may still bring a request that was on its way, in milliseconds. */
const SETTLE = 250;

/** Ends a server without losing a request: one that it has begun to read is answered. */
export class Drain {
  private readonly running = new Set<ServerResponse>();
  private begun = false;

  constructor(private readonly server: Server) {
    server.prependListener("request", (_request, response: ServerResponse) => {
      if (this.begun) leave(response);
      this.running.add(response);
      response.once("close", () => this.running.delete(response));
    });
  }

  readonly hasBegun = (): boolean => this.begun;

  /** Takes no new connections; resolves when every request that runs is answered. */
  async begin(): Promise<void> {
    this.begun = true;
    this.server.keepAliveTimeout = 1;
    for (const response of this.running) leave(response);
    // Not http's own close, which cuts idle connections at once: a request may be on its way on one.
    const closed = new Promise<void>((resolve) =>
      Listening.prototype.close.call(this.server, () => resolve()),
    );
    const settled = setTimeout(() => this.server.closeIdleConnections(), SETTLE);
    await closed;
    clearTimeout(settled);
  }
}

/** Makes an answer the last on its connection, which otherwise would go on to bring requests. */
function leave(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader("Connection", "close");
}
