import { isNetworkFailure } from "../network-failures";
import { mistake } from "../mistake";
import type { Config } from "../settings/config";

/** A store, as far as an error names it. */
interface Store {
  /** The place in it, such as `s3://bucket/prefix`. */
  readonly name: string;
  readonly bucket: string;
  readonly config: Config;
  /** The contents of the store, which decide the settings that errors name. */
  readonly of: "files" | "backups";
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

/** An error of a store, with the setting to correct. */
export function s3Problem(cause: unknown, store: Store): Error {
  const error = cause as S3Error;
  const isOfStore =
    error.$metadata !== undefined ||
    error.name === "CredentialsProviderError" ||
    isNetworkFailure(error) ||
    isUnreadable(error);
  if (!isOfStore) return error;
  const problem = new Error(explanation(error, store), { cause });
  return isMistake(error) ? mistake(problem) : problem;
}

/** Refusals that end by themselves: with a new token, or the right time. */
const PASSING = /^(Expired\w+|TokenRefreshRequired|RequestTimeTooSkewed)$/;

/** Whether a setting or a right must be corrected. */
function isMistake(error: S3Error): boolean {
  const status = error.$metadata?.httpStatusCode ?? 0;
  if (PASSING.test(error.name) || status >= 500) return false;
  return [301, 403, 404].includes(status) || REGION.has(error.name) || isUnreadable(error);
}

/** Whether the SDK could not read an answer, for example because it is HTML. */
const isUnreadable = ({ message }: S3Error): boolean => message.includes("{error}.$response");

/** Whether a store is away for a time, rather than that something must be corrected. */
export function isOutage(cause: unknown): boolean {
  const error = cause as S3Error;
  return isNetworkFailure(error) || (!isUnreadable(error) && (error.$metadata?.httpStatusCode ?? 0) >= 500);
}

function explanation(error: S3Error, store: Store): string {
  const { name, bucket, config } = store;
  const at = valueOf(store, "ENDPOINT") ?? "Amazon S3";
  const status = error.$metadata?.httpStatusCode;
  const credentials = `${setting(store, "ACCESS_KEY_ID")} and ${setting(store, "SECRET_ACCESS_KEY")}`;
  const reason = error.code ?? (/^(Error|Unknown\w*|\d*)$/.test(error.name) ? status : error.name);
  if (isUnreadable(error))
    return `${at} does not answer ${name} as Amazon S3 does. Correct ${setting(store, "ENDPOINT")}: it must be the URL of an S3 service.`;
  if (error.name === "NoSuchBucket" || (status === 404 && error.name !== "NoSuchKey"))
    return `The bucket "${bucket}" of ${name} does not exist at ${at}. Create it, or correct the name or ${setting(store, "ENDPOINT")}.`;
  if (REGION.has(error.name) || status === 301)
    return `The bucket "${bucket}" is in another region than ${valueOf(store, "REGION") ?? config.S3_REGION} (${reason}). Correct ${setting(store, "REGION")}.`;
  if (CREDENTIALS.has(error.name))
    return `${at} refuses the credentials for ${name} (${reason}). Correct ${credentials}.`;
  if (error.name === "RequestTimeTooSkewed")
    return `${at} refuses requests for ${name} because of their time (${reason}). Correct the clock of this machine.`;
  if (status === 403)
    return `${at} refuses access to ${name} (${reason}). Allow s3:ListBucket, s3:GetObject, s3:PutObject${store.of === "files" ? ", s3:DeleteObject" : ""} and s3:AbortMultipartUpload for the key of ${credentials}, or correct them.`;
  if (status !== undefined)
    return `${at} fails for ${name} (${reason}, status ${status}): ${error.message.replace(/\.$/, "")}. Check the service, or correct ${setting(store, "ENDPOINT")}.`;
  return `${at} cannot be reached for ${name} (${reason}). Check the network, or correct ${setting(store, "ENDPOINT")}.`;
}

type SettingOfStore = "ENDPOINT" | "REGION" | "ACCESS_KEY_ID" | "SECRET_ACCESS_KEY";

/** The value in effect. */
const valueOf = ({ config, of }: Store, name: "ENDPOINT" | "REGION"): string | undefined =>
  (of === "backups" ? config[`BACKUP_S3_${name}`] : undefined) ?? config[`S3_${name}`];

/** The setting in effect; that of backups may fall back to that of files. */
function setting({ config, of }: Store, name: SettingOfStore): string {
  if (of === "files") return `S3_${name}`;
  const isFallback = config[`BACKUP_S3_${name}`] === undefined && config[`S3_${name}`] !== undefined;
  return isFallback && name !== "REGION" ? `S3_${name}` : `BACKUP_S3_${name}`;
}
