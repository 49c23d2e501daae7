import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as Listening, type Socket } from "node:net";
import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import { Attached } from "../platform/attached";

/** Time for an idle keep-alive connection to deliver a request that is under way, in ms. */
const KEEP_ALIVE_GRACE_MS = 250;

export interface DrainTimes {
  /** Time in which proxies notice that the server is not ready, and it still accepts connections, in ms. */
  readonly delayMs: number;
  /** Time for running requests to end, in ms. */
  readonly graceMs: number;
}

/** Shuts a server down gracefully: requests that it has started to read are answered if they end in time. */
export class Drain {
  private readonly sockets = new Set<Socket>();
  /** The last response of each socket. A Set of responses would keep many of them in memory until a full collection. */
  private readonly responses = new Attached<ServerResponse>();
  private draining = false;

  constructor(
    private readonly server: Server,
    private readonly times: DrainTimes,
  ) {
    server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
    });
    server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      if (this.draining) closeAfter(response);
      this.responses.set(socket, response);
    });
  }

  readonly isDraining = (): boolean => this.draining;

  /** Begins to drain: the server is not ready any more. Resolves after the delay, until which it works as before. */
  async announce(): Promise<void> {
    this.draining = true;
    if (this.times.delayMs > 0) await pause(this.times.delayMs);
  }

  /**
   * Stops accepting connections; resolves when all running requests are answered or cut off. The system resets connections
   * that it has accepted for a listener that is closed, so those are taken first.
   */
  async begin(): Promise<void> {
    this.draining = true;
    await immediate();
    this.server.keepAliveTimeout = 1;
    for (const socket of this.sockets) {
      const response = this.responses.get(socket);
      if (response) closeAfter(response);
    }
    // Not http.Server.close, which closes idle connections at once although a request may be under way on one.
    const closed = new Promise<void>((resolve) =>
      Listening.prototype.close.call(this.server, () => resolve()),
    );
    const timers = [
      setTimeout(() => this.closeIdle(), KEEP_ALIVE_GRACE_MS),
      setTimeout(() => this.server.closeAllConnections(), this.times.graceMs),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
  }

  private closeIdle(): void {
    this.server.closeIdleConnections();
    // To Node, a connection that has sent nothing is not idle. Browsers open some in advance.
    for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}

/** Closes the connection after this response, so that it brings no further requests. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader("Connection", "close");
}
