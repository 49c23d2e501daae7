import type { PeerCertificate } from "node:tls";
import pg from "pg";
import { ENCODE_PASSWORD, withVerification } from "../../settings/database-url";
import { mistake } from "../../mistake";
import { reasonOf } from "../../network-failures";
import ADVICE from "./connection-advice.json";
import { databaseProblem, explanationOf, isExplained } from "./database-problem";
import { workerProblem } from "./worker-problem";

/** Timeout of opening a connection. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Idle time after which the system probes a connection, in ms: firewalls forget one after some minutes, and a statement may take hours. */
const KEEP_ALIVE_MS = 30_000;
/** Settings that name the database. An error about a URL names the first one that has it. */
const SETTINGS = [
  "DATABASE_URL",
  "DATABASE_DIRECT_URL",
  "DATABASE_OWNER_URL",
  "DATABASE_JOBS_URL",
  "DATABASE_REPLICA_URL",
];

/** Codes for failures that pg reports without one. */
const CODES: readonly (readonly [RegExp, keyof typeof ADVICE])[] = [
  [/client password must be a string/, "NO_PASSWORD"],
  [/does not support SSL/, "NO_TLS"],
  [/timeout expired|connection timeout/i, "ETIMEDOUT"],
  [/establishing an SSL connection|invalid response|unknown message|terminated/i, "NOT_POSTGRESQL"],
];

/**
 * Opens a connection outside the pools. If it ends between two statements, the next one fails.
 * @param name the connection's application_name
 * @param options settings of the session, as PostgreSQL's `options`
 * @throws Error with the address, the setting that names it, and a remedy
 */
export async function openClient(url: string, name: string, options?: string): Promise<pg.Client> {
  try {
    const client = new pg.Client({
      connectionString: withVerification(url), // read by the constructor, with the certificates that it names
      application_name: name,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      options,
    });
    client.on("error", () => undefined); // without a listener, the end of the connection would end the process
    await client.connect();
    return client;
  } catch (error) {
    throw connectionError(error, url);
  }
}

/** An error that says which database cannot be connected to, with the setting that names it and a remedy. */
function connectionError(cause: unknown, url: string): Error {
  const error = explanationOf(connectionProblem(cause, url), cause);
  return isMistake(cause, url) ? mistake(error) : error;
}

/**
 * Codes of refusals that stay until somebody changes a setting, a right or a certificate. A host that is not known or does
 * not answer may only be starting.
 */
const MISTAKES =
  /^(NO_\w+|POOLER|EACCES|28P01|28000|3D000|42501|(DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|UNABLE_TO_\w+|ERR_(TLS_CERT|OSSL)_\w+)$/;

const namesNoDatabase = (url: string): boolean => new URL(url).pathname.length < 2;

/** Whether a database cannot be connected to before the operator has corrected something. */
const isMistake = (error: unknown, url: string): boolean =>
  namesNoDatabase(url) || MISTAKES.test(codeOf(error)) || (error as { syscall?: string }).syscall === "open";

/** SQLSTATE of a PostgreSQL, a database or a role that has no connections left, or of a PostgreSQL that starts or stops. */
const NO_CONNECTION = /^(53300|57P0[123])$/;

/** A pooler refuses or ignores the settings of a connection. */
export const FROM_POOLER = /unsupported startup parameter|ignores the settings of a connection/;

/**
 * An error of a pool with the address and a remedy, if it could not connect or was cut off, or one of Citus about a
 * worker; any other error unchanged.
 */
export function explained(error: unknown, url: string): unknown {
  if (isExplained(error)) return error;
  const away = workerProblem(error);
  if (away !== undefined) return away;
  const isOfConnection =
    NO_CONNECTION.test(String((error as { code?: unknown }).code)) || FROM_POOLER.test(String(error));
  return isOfConnection ? connectionError(error, url) : (databaseProblem(error) ?? error);
}

function connectionProblem(error: unknown, url: string): string {
  const code = codeOf(error);
  const named = SETTINGS.filter(
    (name) => withVerification(process.env[name]?.trim() ?? "") === withVerification(url),
  );
  // DATABASE_URL may lead to a pooler.
  const setting = (code === "POOLER" ? named.find((name) => name !== "DATABASE_URL") : undefined) ?? named[0];
  const reason =
    code === "NO_PASSWORD" ? "it asks for a password, and none is set" : reasonOf(error).replace(/\.$/, "");
  const advice = adviceFor(code, setting);
  // A name that is missing may be part of a password: the address is then not the one that was meant.
  if (namesNoDatabase(url))
    return `Cannot connect to the database${setting ? ` (${setting})` : ""}. Its URL names no database; ${ENCODE_PASSWORD}.`;
  const names = namesIn((error as { cert?: PeerCertificate }).cert);
  return `Cannot connect to the database ${addressOf(url)}${setting ? ` (${setting})` : ""}: ${reason}. ${advice}${names}`;
}

function adviceFor(code: string, setting: string | undefined): string {
  if (code === "POOLER" && setting !== undefined && setting !== "DATABASE_URL")
    return `This is a pooler, such as PgBouncer: set ${setting} to the URL of PostgreSQL itself. ${SEE_POOLERS}`;
  return (ADVICE as Readonly<Record<string, string>>)[code] ?? "Check the URL.";
}

const SEE_POOLERS = "See PgBouncer in docs/operations.md.";

function codeOf(error: unknown): string {
  const reason = reasonOf(error);
  if (FROM_POOLER.test(reason)) return "POOLER";
  if (/requires a valid client certificate/.test(reason)) return "NO_CERTIFICATE"; // its code has other causes, too
  return (error as { code?: string }).code ?? CODES.find(([pattern]) => pattern.test(reason))?.[1] ?? "";
}

/** The names in a certificate that was refused; nothing for other errors. */
function namesIn(certificate: PeerCertificate | undefined): string {
  if (certificate === undefined) return "";
  return ` It contains: ${certificate.subjectaltname ?? `CN:${String(certificate.subject.CN)}`}.`;
}

/** The URL without its password and parameters. */
function addressOf(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username}${username && "@"}${host}${pathname}`;
}
