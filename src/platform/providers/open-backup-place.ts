import { resolve } from "node:path";
import type { BackupPlace } from "../ports/backup-place";
import type { Config } from "../settings/config";
import { BoundedAnswers } from "../outbound/bounds";
import { quoted } from "../errors";
import { localBackupPlace } from "./local-backup-place";
import { s3BackupPlace } from "./s3-backup-place";

const S3_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/s;

/**
 * Opens the place of a backup by the name that an operator gave.
 * @param target a folder, or `s3://bucket/prefix`
 */
export function openBackupPlace(target: string, config: Config): BackupPlace {
  const [, bucket, path = ""] = S3_URL.exec(target) ?? [];
  if (bucket !== undefined)
    return s3BackupPlace(bucket, path.split("/").filter(Boolean), config, new BoundedAnswers());
  if (/^\w+:\/\//.test(target))
    throw new Error(
      `${quoted(target)} is not a place for a backup. Name a folder, or a bucket and a prefix as in s3://bucket/prefix. Names of buckets have 3 to 63 characters: small letters, digits, dots and hyphens.`,
    );
  return localBackupPlace(resolve(target));
}
