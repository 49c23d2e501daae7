import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { PIPED } from "./merging-request";

/** Smaller bodies make room for others only if there are no larger ones, in bytes. */
const SMALL_BYTES = 65_536;

/**
 * The request bodies that are being read into memory. Beyond the limit of all together, those that began first are cut
 * off: a body whose sender does not hold it back arrives within seconds.
 */
export class UnfinishedBodies {
  /** Maximum number of bytes of all bodies together, decompressed. Tests lower it. */
  static limit = 268_435_456;

  private static readonly sizes = new Map<IncomingMessage, number>();
  private static total = 0;

  /**
   * Counts a body that a parser of Express is about to read.
   * @param limit longest body that the parser keeps, in bytes
   * @returns a function that ends the counting
   */
  static add(request: IncomingMessage, limit: number): () => void {
    const { sizes } = UnfinishedBodies;
    sizes.set(request, 0); // behind those that began before
    const count = ({ length }: Buffer) => UnfinishedBodies.grow(request, length, limit);
    request.on("data", count);
    const countDecompressed = (target: Readable) => {
      request.off("data", count);
      target.on("data", count);
    };
    request.on(PIPED, countDecompressed);
    const end = () => {
      request.off("data", count).off(PIPED, countDecompressed).off("close", end);
      UnfinishedBodies.remove(request);
    };
    request.once("close", end); // the parser does not hear of the end of a compressed body that breaks off
    return end;
  }

  private static grow(request: IncomingMessage, bytes: number, longest: number): void {
    const { sizes, limit } = UnfinishedBodies;
    const known = sizes.get(request);
    if (known === undefined) return;
    const size = known + bytes;
    if (size > longest) return UnfinishedBodies.remove(request); // the parser discards it
    sizes.set(request, size);
    UnfinishedBodies.total += bytes;
    if (UnfinishedBodies.total <= limit) return;
    const [first] = [...sizes].find(([, size]) => size > SMALL_BYTES) ?? [...sizes.keys()];
    first?.destroy();
  }

  private static remove(request: IncomingMessage): void {
    UnfinishedBodies.total -= UnfinishedBodies.sizes.get(request) ?? 0;
    UnfinishedBodies.sizes.delete(request);
  }
}
