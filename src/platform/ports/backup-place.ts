import type { Readable } from "node:stream";

/** A place for the parts of one backup, each under its path within the backup, such as `tables/chats.copy.gz`. */
export interface BackupPlace {
  /** The place as operators name it: a folder, or `s3://bucket/prefix`. */
  readonly name: string;
  /** Prepares it for a new backup. @throws Error with the remedy, if it is not empty or cannot be used */
  prepare(): Promise<void>;
  /** Writes a part completely or not at all. */
  write(path: string, content: Readable): Promise<void>;
  /** Deletes what this process has written to it; missing where a backup needs no right to delete. */
  discard?(): Promise<void>;
  /** The content of a part; undefined if there is none. */
  read(path: string): Promise<Readable | undefined>;
}
