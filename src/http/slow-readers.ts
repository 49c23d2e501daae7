import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Time without any progress after which the connection of a running request is closed, in ms. Models may take long. */
const IDLE_TIMEOUT_MS = 900_000;

/** Closes connections of clients that do not read: their responses would stay in memory for as long as they like. */
export class SlowReaders {
  /** Time without progress after which a complete response is given up, in ms. Tests lower it. */
  static timeoutMs = 60_000;

  /** Watches all connections of a server. */
  static close(server: Server): void {
    server.timeout = IDLE_TIMEOUT_MS;
    server.on("request", (_request: IncomingMessage, response: ServerResponse) => {
      // A request that was sent ahead gets the connection after the response before it, which has shortened the time.
      response.once("socket", (socket: Socket) => socket.setTimeout(IDLE_TIMEOUT_MS));
      // Node sets another timeout once everything is sent.
      response.once("prefinish", () => response.socket?.setTimeout(SlowReaders.timeoutMs));
    });
  }
}
