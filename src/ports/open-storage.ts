import type { Config } from "../config";
import { localStorage } from "./local-storage";
import { s3Storage } from "./s3-storage";
import type { Storage } from "./storage";

/** The storage that the settings name. */
export function openStorage(config: Config): Storage {
  return config.S3_BUCKET === undefined ? localStorage(config.filesDir) : s3Storage(config.S3_BUCKET, config);
}
