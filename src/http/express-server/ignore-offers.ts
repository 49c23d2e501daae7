import type { IncomingMessage } from "node:http";

const WEBSOCKET = /\bwebsocket\b/i;

/**
 * Lets requests of a class become WebSockets, but no other protocol: such offers are ignored, as HTTP allows. Java's client,
 * for example, offers HTTP/2 with its requests, and Node would hand all of them to the listener of WebSockets.
 */
export function ignoreOffers(prototype: IncomingMessage): void {
  const offers = new WeakSet<IncomingMessage>();
  Object.defineProperty(prototype, "upgrade", {
    get(this: IncomingMessage): boolean {
      if (!offers.has(this)) return false;
      return this.method === "CONNECT" || WEBSOCKET.test(this.headers.upgrade ?? "");
    },
    /** Called by Node before it knows the headers. */
    set(this: IncomingMessage, isOffer: boolean | null) {
      if (isOffer) offers.add(this);
      else offers.delete(this);
    },
  });
}
