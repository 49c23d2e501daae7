import type { Config } from "../settings/config";

/** The store of backups, as far as an error names it. */
interface Store {
  /** The place of the backup, such as `s3://bucket/prefix`. */
  readonly name: string;
  readonly bucket: string;
  readonly config: Config;
}

interface S3Error extends Error {
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const CREDENTIALS = new Set([
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "ExpiredToken",
  "ExpiredTokenException",
  "InvalidToken",
  "CredentialsProviderError",
  "TokenRefreshRequired",
]);
const REGION = new Set([
  "PermanentRedirect",
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
]);

/** An error of the store of backups, with the setting to correct. */
export function s3Problem(cause: unknown, store: Store): Error {
  const error = cause as S3Error;
  const isOfStore =
    error.$metadata !== undefined || error.name === "CredentialsProviderError" || isNetwork(error);
  return isOfStore ? new Error(explanation(error, store), { cause }) : error;
}

function explanation(error: S3Error, { name, bucket, config }: Store): string {
  const at = config.BACKUP_S3_ENDPOINT ?? config.S3_ENDPOINT ?? "Amazon S3";
  const status = error.$metadata?.httpStatusCode;
  const credentials = `${setting(config, "ACCESS_KEY_ID")} and ${setting(config, "SECRET_ACCESS_KEY")}`;
  const reason = error.code ?? (/^(Error|Unknown\w*|\d*)$/.test(error.name) ? status : error.name);
  if (error.name === "NoSuchBucket" || (status === 404 && error.name !== "NoSuchKey"))
    return `The bucket "${bucket}" of ${name} does not exist at ${at}. Create it, or correct the name or ${setting(config, "ENDPOINT")}.`;
  if (REGION.has(error.name) || status === 301)
    return `The bucket "${bucket}" is in another region than ${config.BACKUP_S3_REGION ?? config.S3_REGION} (${reason}). Correct ${setting(config, "REGION")}.`;
  if (CREDENTIALS.has(error.name))
    return `${at} refuses the credentials for ${name} (${reason}). Correct ${credentials}.`;
  if (status === 403)
    return `${at} refuses access to ${name} (${reason}). Allow s3:ListBucket, s3:GetObject, s3:PutObject and s3:AbortMultipartUpload for the key of ${credentials}, or correct them.`;
  if (status !== undefined) return `${at} fails for ${name} (${reason}, status ${status}): ${error.message}`;
  return `${at} cannot be reached for ${name} (${reason}). Check the network, or correct ${setting(config, "ENDPOINT")}.`;
}

/** The setting in effect; that of backups, unless it falls back to that of files. */
function setting(config: Config, of: "ENDPOINT" | "REGION" | "ACCESS_KEY_ID" | "SECRET_ACCESS_KEY"): string {
  const isFallback = config[`BACKUP_S3_${of}`] === undefined && config[`S3_${of}`] !== undefined;
  return isFallback && of !== "REGION" ? `S3_${of}` : `BACKUP_S3_${of}`;
}

const isNetwork = ({ name, code = "" }: S3Error): boolean =>
  name === "TimeoutError" ||
  /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EPROTO|ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/.test(
    code,
  );
