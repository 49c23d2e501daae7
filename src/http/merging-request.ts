import { IncomingMessage } from "node:http";

/** Shorter pieces of a body are merged up to this size. */
const PIECE_BYTES = 16_384;

/** Event of a request whose body is piped, with the target. */
export const PIPED = "piped";

/**
 * Makes a class of requests whose bodies have no tiny pieces. Readers keep every piece until the end, so a body of 16 MiB
 * in HTTP chunks of one byte would take gigabytes of memory.
 */
export const mergingRequest = (): typeof IncomingMessage =>
  class extends IncomingMessage {
    #held: Buffer | undefined;
    #heldBytes = 0;

    override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
      const isFull = piece === null || this.#heldBytes + piece.length > PIECE_BYTES;
      if (isFull && !this.#release()) return super.push(piece, encoding);
      if (piece === null || piece.length > PIECE_BYTES) return super.push(piece, encoding);
      this.#hold(piece);
      return true;
    }

    /** Emits `piped`, as the target emits `pipe`. */
    override pipe<T extends NodeJS.WritableStream>(target: T, options?: { readonly end?: boolean }): T {
      this.emit(PIPED, target);
      return super.pipe(target, options);
    }

    #hold(piece: Buffer): void {
      // Most bodies have one piece, which needs no copy.
      if (!this.#held) this.#held = piece;
      else {
        if (this.#held.length < PIECE_BYTES) this.#held = enlarged(this.#held);
        piece.copy(this.#held, this.#heldBytes);
      }
      this.#heldBytes += piece.length;
    }

    /** @returns whether the reader wants more */
    #release(): boolean {
      const held = this.#held?.subarray(0, this.#heldBytes);
      this.#held = undefined;
      this.#heldBytes = 0;
      return held ? super.push(held) : true;
    }
  };

function enlarged(piece: Buffer): Buffer {
  const larger = Buffer.allocUnsafeSlow(PIECE_BYTES);
  piece.copy(larger);
  return larger;
}
