import { Readable } from "node:stream";
import type { BoundedAnswers } from "../outbound/bounds";
import type { BackupPlace } from "../ports/backup-place";
import type { Config } from "../settings/config";
import { s3Problem } from "./s3-problem";
import { FOR_COMMANDS, s3Storage, type S3Settings } from "./s3-storage";

/** With the 10,000 parts that a store accepts, one table may have 160 GB after compression. */
const PART_BYTES = 16 * 1_024 * 1_024;

/** Attempts in a row that may fail without a byte in between. */
const MAX_FAILURES = 5;

/** A prefix of a bucket for a backup. */
export function s3BackupPlace(
  bucket: string,
  path: readonly string[],
  config: Config,
  answers: BoundedAnswers,
): BackupPlace {
  const settings = settingsOf(config);
  const prefix = path.map((part) => `${part}/`).join("");
  const place = { bucket, prefix, partBytes: PART_BYTES, patience: FOR_COMMANDS };
  const storage = s3Storage(place, settings, answers);
  const name = ["s3:/", bucket, ...path].join("/");
  const explained = <T>(work: Promise<T>, content?: Readable): Promise<T> =>
    work.catch((error: unknown) => {
      throw content?.errored ? error : s3Problem(error, { name, bucket, config, of: "backups" }); // not if reading the content failed
    });
  const isEmpty = async () => {
    for await (const _ of storage.list()) return false;
    return true;
  };
  return {
    name,
    async prepare() {
      if (!(await explained(isEmpty())))
        throw new Error(`${name} is not empty. Name a new prefix for the backup.`);
    },
    write: async (path, content) => void (await explained(storage.put(path, content), content)),
    async read(path) {
      const first = await explained(storage.getFrom(path, 0));
      if (first === undefined) return undefined;
      const content = Readable.from(resumed(first, (start) => storage.getFrom(path, start)));
      // A generator that has not begun runs no `finally`, and an open download keeps the process from ending.
      return content.once("close", () => first.destroy());
    },
  };
}

/**
 * The content of an object. After a failure, reading continues at the same byte: stores close connections that rest
 * while the database is busy with earlier content.
 */
async function* resumed(
  first: Readable,
  open: (start: number) => Promise<Readable | undefined>,
): AsyncGenerator<Buffer> {
  const chunksOf = (content: Readable) => content[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let chunks: AsyncIterator<Buffer> | undefined = chunksOf(first);
  try {
    for (let [at, failures] = [0, 0]; ;) {
      let chunk: IteratorResult<Buffer>;
      try {
        chunks ??= chunksOf((await open(at))!); // an object that has disappeared fails as a TypeError
        chunk = await chunks.next();
      } catch (error) {
        chunks = undefined;
        if (++failures > MAX_FAILURES) throw error;
        continue;
      }
      if (chunk.done) return;
      [at, failures] = [at + chunk.value.length, 0];
      yield chunk.value;
    }
  } finally {
    await chunks?.return?.(); // ends the request
  }
}

/** The settings of the store for backups, each of which falls back to that of the store for files. */
function settingsOf(config: Config): S3Settings {
  const { BACKUP_S3_ACCESS_KEY_ID: id, BACKUP_S3_SECRET_ACCESS_KEY: secret } = config;
  return {
    S3_REGION: config.BACKUP_S3_REGION ?? config.S3_REGION,
    S3_ENDPOINT: config.BACKUP_S3_ENDPOINT ?? config.S3_ENDPOINT,
    S3_ACCESS_KEY_ID: id ?? config.S3_ACCESS_KEY_ID,
    S3_SECRET_ACCESS_KEY: secret ?? config.S3_SECRET_ACCESS_KEY,
  };
}
