import { WebSocket } from "ws";
import { closeReason } from "../errors/library-messages";
import { revealed } from "../../platform/json/json-source";

/** Maximum number of bytes buffered for a client that reads slowly. */
const MAX_BUFFERED_BYTES = 8_388_608;
/** Maximum number of frames per second from a client. */
const MAX_FRAMES_PER_SECOND = 500;
/** The client's time to confirm that its socket is closed, in ms. */
export const CLOSE_TIMEOUT_MS = 5_000;
/** WebSocket close code "try again later" (IANA registry); clients of graphql-ws reconnect after it. */
export const TRY_AGAIN_LATER = 1013;

export const TOO_SLOW = "The client reads too slowly. Connect again.";
export const TOO_MANY = "Too many connections or requests. Try again later.";

/** A WebSocket with bounded buffering: it closes if the client reads too slowly. */
export class BoundedSocket extends WebSocket {
  /** Called with the reason when the server gives up on the client. */
  onGivenUp: (reason: string) => void = () => undefined;
  private givenUp = false;
  private frames = 0;
  private second = 0;

  override send(data: unknown, ...options: unknown[]): void {
    const text = typeof data === "string" ? revealed(data) : data;
    (super.send as (...args: unknown[]) => void)(text, ...options); // covers all overloads
    if (this.bufferedAmount > MAX_BUFFERED_BYTES) this.giveUp(TOO_SLOW);
  }

  /** Closes with a reason that tells the client's author what to do. */
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, typeof reason === "string" ? closeReason(reason) : reason);
  }

  /** Limits the frames that the client sends. The library itself only limits pings. */
  limitFrames(): void {
    const count = () => {
      const second = Math.floor(performance.now() / 1_000);
      this.frames = second === this.second ? this.frames + 1 : 1;
      this.second = second;
      if (this.frames > MAX_FRAMES_PER_SECOND) this.giveUp(TOO_MANY);
    };
    this.on("message", count).on("ping", count).on("pong", count);
  }

  /** Closes with 1013, and terminates the connection if the client does not confirm. */
  giveUp(reason: string): void {
    if (this.givenUp) return;
    this.givenUp = true;
    this.onGivenUp(reason);
    this.close(TRY_AGAIN_LATER, reason);
    setTimeout(() => this.terminate(), CLOSE_TIMEOUT_MS).unref();
  }
}
