import type { Config } from "../settings/config";
import { BoundedAnswers } from "../outbound/bounds";
import { localStorage } from "./local-storage";
import { s3Problem } from "./s3-problem";
import { FOR_COMMANDS, FOR_REQUESTS, s3Storage } from "./s3-storage";
import type { Storage } from "../ports/storage";

/** The file storage from the settings: an S3 bucket or a local folder. */
export function openStorage(
  config: Config,
  answers = new BoundedAnswers(),
  patience = FOR_REQUESTS,
): Storage {
  const { S3_BUCKET: bucket, filesDir } = config;
  return bucket === undefined ? localStorage(filesDir) : s3Storage({ bucket, patience }, config, answers);
}

/** The same for commands, which wait longer: an error of a bucket names the setting to correct. */
export function explainedStorage(config: Config, answers?: BoundedAnswers): Storage {
  const storage = openStorage(config, answers, FOR_COMMANDS);
  const { S3_BUCKET: bucket } = config;
  if (bucket === undefined) return storage;
  const explain = (error: unknown): never => {
    throw s3Problem(error, { name: `s3://${bucket}`, bucket, config, of: "files" });
  };
  return {
    put: (key, content) =>
      storage.put(key, content).catch((error: unknown) => {
        if (content.errored) throw error;
        return explain(error);
      }),
    get: (key) => storage.get(key).catch(explain),
    has: (key) => storage.has(key).catch(explain),
    remove: (key) => storage.remove(key).catch(explain),
    async *list() {
      try {
        yield* storage.list();
      } catch (error) {
        explain(error);
      }
    },
  };
}
