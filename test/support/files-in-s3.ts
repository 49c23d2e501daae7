import { createHash } from "node:crypto";
import { startS3 } from "./s3";

const ACCESS_KEY = "AKIDRUN";

/** Starts an S3-compatible server for the files of all servers of a run. @returns a function that stops it */
export async function storeFilesInS3(): Promise<() => Promise<void>> {
  const { url, stop } = await startS3(ACCESS_KEY, true);
  process.env.TEST_S3_URL = url;
  return stop;
}

/**
 * With `TEST_S3=1`, settings by which a server or command stores files in a bucket instead of in the folder `files` of its
 * DATA_DIR: the bucket of this folder, so that whoever would share the folder shares the bucket. What a test sets itself
 * stays.
 */
export function filesInS3({
  DATA_DIR: dataDir,
  S3_BUCKET: own,
}: Readonly<Record<string, string>>): Record<string, string> {
  const { TEST_S3_URL: url } = process.env;
  if (url === undefined || dataDir === undefined || own !== undefined) return {};
  return {
    S3_BUCKET: createHash("sha256").update(dataDir).digest("hex").slice(0, 32),
    S3_ENDPOINT: url,
    S3_ACCESS_KEY_ID: ACCESS_KEY,
    S3_SECRET_ACCESS_KEY: "secret",
  };
}
