import { WebSocket } from "ws";
import { revealed } from "../platform/json/json-source";

/** Bytes that may wait for a client to read them. */
const MOST_WAITING = 8_388_608;
/** Frames a second that a client may send. */
const MOST_FRAMES = 500;
/** How long a client may take to answer that its socket is closed, in milliseconds. */
export const PARTING = 5_000;
/** Try again later, by RFC 6455's registry: clients of graphql-ws connect again after it. */
const TRY_AGAIN_LATER = 1013;

export const TOO_SLOW = "Too much is waiting for this client to read it.";
export const TOO_MANY = "Too many connections or requests. Try again later.";

/** A WebSocket that holds a bounded amount for a client who reads too slowly, and then closes. */
export class BoundedSocket extends WebSocket {
  /** Told the reason when the server gives up on the client. */
  onGivenUp: (reason: string) => void = () => undefined;
  private givenUp = false;
  private frames = 0;
  private second = 0;

  override send(data: unknown, ...given: unknown[]): void {
    const shown = typeof data === "string" ? revealed(data) : data;
    (super.send as (...given: unknown[]) => void)(shown, ...given); // any of its forms
    if (this.bufferedAmount > MOST_WAITING) this.giveUp(TOO_SLOW);
  }

  /** Counts what the client sends. A flood of pings alone is cut off by the library. */
  limitFrames(): void {
    const count = () => {
      const second = Math.floor(performance.now() / 1_000);
      this.frames = second === this.second ? this.frames + 1 : 1;
      this.second = second;
      if (this.frames > MOST_FRAMES) this.giveUp(TOO_MANY);
    };
    this.on("message", count).on("ping", count).on("pong", count);
  }

  /** Closes with 1013, and cuts the connection off if the client does not answer. */
  giveUp(reason: string): void {
    if (this.givenUp) return;
    this.givenUp = true;
    this.onGivenUp(reason);
    this.close(TRY_AGAIN_LATER, reason);
    setTimeout(() => this.terminate(), PARTING).unref();
  }
}
