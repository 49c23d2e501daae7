import { z } from "zod";
import { url } from "./setting-kinds";

/** A shorter passphrase could be guessed by trying. */
export const MIN_KEY_LENGTH = 16;

const text = z.string().min(1).optional();

/** The encryption of backups, and the store that `s3://` names in the commands of backups. */
export const BACKUP_SETTINGS = {
  BACKUP_KEY: [
    z
      .string()
      .min(
        MIN_KEY_LENGTH,
        `must be an age key, or a passphrase of at least ${MIN_KEY_LENGTH} characters, such as from \`openssl rand -base64 32\``,
      )
      .optional(),
    "unset: backups are not encrypted",
    "Encrypts backups: a passphrase, or public keys of [age](https://age-encryption.org) (`age1…`), separated by commas.",
  ],
  BACKUP_S3_REGION: [text, "that of `S3_REGION`", "Region of the bucket for backups."],
  BACKUP_S3_ENDPOINT: [
    url("http:", "https:").optional(),
    "that of `S3_ENDPOINT`",
    "URL of the S3-compatible store for backups. If files are in another store and backups go to Amazon, its URL, such as `https://s3.eu-central-1.amazonaws.com`.",
  ],
  BACKUP_S3_ACCESS_KEY_ID: [text, "that of `S3_ACCESS_KEY_ID`", "Access key of the store for backups."],
  BACKUP_S3_SECRET_ACCESS_KEY: [
    text,
    "that of `S3_SECRET_ACCESS_KEY`",
    "Secret key of the store for backups.",
  ],
} as const;
