import type { Config } from "../settings/config";
import { BoundedAnswers } from "../outbound/bounds";
import { localStorage } from "./local-storage";
import { s3Storage } from "./s3-storage";
import type { Storage } from "../ports/storage";

/** The file storage from the settings: an S3 bucket or a local folder. */
export function openStorage(config: Config, answers = new BoundedAnswers()): Storage {
  const { S3_BUCKET: bucket, filesDir } = config;
  return bucket === undefined ? localStorage(filesDir) : s3Storage({ bucket }, config, answers);
}
