import type { Readable } from "node:stream";

/** Where the bytes of uploaded files are kept, under keys of our own (`organization/id`), never under the name they came with. */
export interface Storage {
  /**
   * Keeps `content` whole, or nothing of it.
   * @returns its size in bytes
   * @throws whatever reading `content` throws; ENOSPC when there is no room
   */
  put(key: string, content: Readable): Promise<number>;
  /** @throws Error when nothing is kept under this key */
  get(key: string): Promise<Readable>;
  /** Whether something is kept under this key. */
  has(key: string): Promise<boolean>;
  /** Removes it; nothing happens when it isn't there. */
  remove(key: string): Promise<void>;
  /** Everything kept, and what a crash left half-written. */
  list(): AsyncIterable<{ readonly key: string; readonly storedAt: Date }>;
}
