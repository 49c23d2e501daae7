import type { Logger } from "pino";
import { FileStore } from "../assistants/files/file-store";
import { Availability } from "../platform/availability";
import type { Database } from "../platform/database/database";
import { mistake } from "../platform/mistake";
import type { Storage } from "../platform/ports/storage";
import { isOutage, s3Problem } from "../platform/providers/s3-problem";
import type { Config } from "../platform/settings/config";

const FILES_LOST = "the store of files does not answer: this server is not ready until it does";

/**
 * The store of files, which is now that of the installation unless it has another.
 * @throws Error naming the setting, if the storage cannot be written. The store of the installation may be away for a
 * time: the server is not ready until it is back.
 */
export async function claimedStore(
  database: Database,
  storage: Storage,
  config: Config,
  logger: Logger,
): Promise<FileStore> {
  const availability = new Availability(logger, FILES_LOST, "the store of files answers again");
  const fileStore = new FileStore(database, storage, availability);
  const { S3_BUCKET: bucket } = config;
  const refuse = (error: unknown): never => {
    const [location, cause] =
      bucket === undefined
        ? [`DATA_DIR ${config.filesDir}`, unusable(error as NodeJS.ErrnoException)]
        : [`S3_BUCKET ${bucket}`, s3Problem(error, { name: `s3://${bucket}`, bucket, config, of: "files" })];
    const { message } = cause;
    throw new Error(`${location} cannot store files: ${message}`, { cause });
  };
  await fileStore.claim().catch(refuse);
  if (bucket === undefined) return fileStore; // a full disk must not keep a server from starting
  await fileStore.tryToWrite().catch((err: unknown) => {
    if (!isOutage(err)) return refuse(err);
    availability.failed(err);
  });
  return fileStore;
}

/** An error of a folder, unless a later start may not meet it, as after a full disk. */
const unusable = (error: NodeJS.ErrnoException): Error =>
  /^(EACCES|EPERM|EROFS|ENOTDIR)$/.test(error.code ?? "") ? mistake(error) : error;
