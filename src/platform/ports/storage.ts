import type { Readable } from "node:stream";

/** Stores the content of uploaded files under our own keys (`organization/id`), never under the uploaded name. */
export interface Storage {
  /**
   * Stores `content` completely or not at all.
   * @returns its size in bytes
   * @throws any error of `content`; ENOSPC if the storage is full
   */
  put(key: string, content: Readable): Promise<number>;
  /** @throws Error if nothing is stored under this key */
  get(key: string): Promise<Readable>;
  /** Whether something is stored under this key. */
  has(key: string): Promise<boolean>;
  /** Removes the content; does nothing if there is none. */
  remove(key: string): Promise<void>;
  /** Everything stored, including files that a crash left incomplete. */
  list(): AsyncIterable<{ readonly key: string; readonly storedAt: Date }>;
}
