import { join, resolve } from "node:path";
import { z } from "zod";
import { BACKUP_SETTINGS } from "./backup-settings";
import { DATABASE_SETTINGS } from "./database-settings";
import { GRAPHQL_SETTINGS, graphqlProblems } from "./graphql-settings";
import { LIMIT_SETTINGS } from "./limit-settings";
import { flag, isHostName, isRange, list, oneOf, ownAddress, url, whole } from "./setting-kinds";
import { MODEL_SETTINGS, modelProblems, providerVariables } from "./model-settings";
import { RETENTION_SETTINGS } from "./retention-settings";
import { TELEPHONY_SETTINGS } from "./telephony-settings";
import { TRACING_SETTINGS } from "./tracing-settings";
import { VOICE_SETTINGS } from "./voice-settings";
import { mistake } from "../mistake";

const firstKey = z
  .string()
  .regex(/^[\x21-\x7e]{16,200}$/, "must be 16 to 200 printable characters without spaces");

/** The value of ENCRYPTION_KEYS in docs/deployment.md. */
export const KEYS_PLACEHOLDER = "at least 32 random characters; keep a copy";

/** Every setting: its parser, its default and its description, as docs/settings.md and .env.example show them. */
export const SETTINGS = {
  HOST: [
    z.string().min(1).optional(),
    "`127.0.0.1` with the embedded database; otherwise `0.0.0.0`",
    "Address to listen on.",
  ],
  PORT: [whole(0, 65535).default(4000), "`4000`", "Port to listen on; 0 picks a free one."],
  DATA_DIR: [
    z
      .string()
      .min(1)
      .default(".data")
      .transform((path) => resolve(path)),
    "`.data`",
    "Folder of the embedded database, of uploaded files and of generated secrets.",
  ],
  ...DATABASE_SETTINGS,
  PUBLIC_BASE_URL: [
    ownAddress.optional(),
    "the address of `HOST` and `PORT`",
    "URL at which clients reach the service, without a path; links to files begin with it.",
  ],
  BOOTSTRAP_SECRET_KEY: [
    firstKey.optional(),
    "generated, printed at the first start",
    "SECRET key of the default organization, used when that organization is created.",
  ],
  BOOTSTRAP_PUBLIC_KEY: [
    firstKey.optional(),
    "generated, printed at the first start",
    "PUBLIC key of the default organization, used when that organization is created.",
  ],
  ENCRYPTION_KEYS: [
    list
      .refine((keys) => keys.length > 0 && keys.every((key) => key.length >= 32), {
        error: "must be one or more keys of at least 32 characters each, newest first, separated by commas",
      })
      // As a former key it is accepted, so that an installation that used it can rotate its keys.
      .refine(([first]) => first !== KEYS_PLACEHOLDER, {
        error:
          "must not be the example of the documentation, which everybody knows: create a key with `openssl rand -base64 32`",
      })
      .optional(),
    "generated and stored in `DATA_DIR` with the embedded database; otherwise required",
    "Keys that protect stored secrets, tokens and links. The first encrypts and signs; all of them are accepted (`new,old` to rotate).",
  ],
  CATALOG_FILE: [
    z.string().min(1).optional(),
    "the built-in catalog",
    "JSON file that extends or overrides the catalog of models and voices.",
  ],
  OPEN_SETTINGS: [
    z.union([flag, z.literal("loopback")], { error: "must be true, false or loopback" }).optional(),
    "`loopback` with the embedded database; otherwise `false`",
    "Who may use `/rest/v1/settings` without a credential: `true` for everybody, `loopback` for callers on this machine, `false` for nobody.",
  ],
  REST_UNKNOWN_FIELDS: [
    oneOf("refuse", "ignore").default("refuse"),
    "`refuse`",
    "Unknown fields in a REST body: `refuse` answers 400, `ignore` skips them.",
  ],
  ...TELEPHONY_SETTINGS,
  ...VOICE_SETTINGS,
  ...GRAPHQL_SETTINGS,
  ...LIMIT_SETTINGS,
  TRUST_PROXY: [
    list
      .refine((entries) => entries.every(isRange), {
        error: "must be addresses or ranges such as 10.0.0.0/8, separated by commas",
      })
      .default([]),
    "none",
    "IP addresses or ranges of the proxies whose `X-Forwarded-*` headers are trusted, separated by commas.",
  ],
  KEEP_ALIVE_SECONDS: [
    whole(1, 3_600).default(130),
    "`130`",
    "Seconds for which an idle connection stays open. Behind a proxy, set more than the proxy's own limit (nginx and AWS: 60; Caddy: 120; Google Cloud: 600): otherwise it may send a request just as the server closes the connection, and answers 502.",
  ],
  MAX_FILE_BYTES: [
    whole(1, 2_147_483_647).default(26_214_400),
    "`26214400` (25 MiB)",
    "Largest file that may be uploaded, in bytes.",
  ],
  ...MODEL_SETTINGS,
  EMBEDDING_MODEL: [
    z.string().min(1).max(200).default("text-embedding-3-small"),
    "`text-embedding-3-small`",
    "Embedding model for semantic search, which complements full-text search. Used if the database has pgvector and a key is set; `off` disables it.",
  ],
  EMBEDDING_API_KEY: [
    z.string().min(1).optional(),
    "the key used for OpenAI",
    "API key of the embedding model, for all organizations.",
  ],
  EMBEDDING_BASE_URL: [
    url("http:", "https:").optional(),
    "the URL used for OpenAI",
    "Base URL of an embedding model with OpenAI's protocol, for all organizations.",
  ],
  IDLE_TIMEOUT_MINUTES: [
    whole(1, 100_000).default(30),
    "`30`",
    "Minutes without a message after which a text or SMS chat ends.",
  ],
  ...RETENTION_SETTINGS,
  WORKER: [
    flag.default(true),
    "`on`",
    "Whether this process runs jobs (answers chats, delivers webhooks). With `off`, another server must.",
  ],
  SHUTDOWN_DELAY_SECONDS: [
    whole(0, 60).default(0),
    "`0`",
    "Seconds after SIGTERM in which the server still accepts requests while `/health/ready` answers 503. Behind a proxy, longer than the interval of its health checks.",
  ],
  SHUTDOWN_GRACE_SECONDS: [
    whole(15, 600).default(20),
    "`20`",
    "Seconds after the delay until a server cuts off what still runs. Requests, such as the answer that a caller is hearing, may take until 10 seconds before the end. The rest is for jobs.",
  ],
  TAKEOVER_SECONDS: [
    whole(1, 3_600).default(90),
    "`90`",
    "Seconds without a heartbeat after which a server counts as dead.",
  ],
  WEBHOOK_TIMEOUT_SECONDS: [whole(1, 60).default(15), "`15`", "Timeout of a webhook delivery, in seconds."],
  MODEL_TIMEOUT_SECONDS: [
    whole(1, 600).default(120),
    "`120`",
    "Timeout of one answer of a model, in seconds.",
  ],
  OUTBOUND_ALLOW: [
    list
      .refine((entries) => entries.every((entry) => isRange(entry) || isHostName(entry)), {
        error:
          "must be host names, addresses or ranges such as 10.0.0.0/8, separated by commas, without scheme and port",
      })
      .optional(),
    "loopback with the embedded database; otherwise none",
    "Private hosts, addresses and ranges (`10.0.0.0/8`) that webhooks, functions and models may reach in addition to public ones, separated by commas.",
  ],
  S3_BUCKET: [
    z.string().min(3, "must be the name of a bucket, of at least 3 characters").optional(),
    "unset: files in `DATA_DIR`",
    "Bucket for uploaded files.",
  ],
  S3_REGION: [z.string().min(1).default("us-east-1"), "`us-east-1`", "Region of the bucket."],
  S3_ENDPOINT: [url("http:", "https:").optional(), "Amazon's", "URL of another S3-compatible store."],
  S3_ACCESS_KEY_ID: [z.string().min(1).optional(), "the machine's IAM role", "Access key of the store."],
  S3_SECRET_ACCESS_KEY: [z.string().min(1).optional(), "the machine's IAM role", "Secret key of the store."],
  ...BACKUP_SETTINGS,
  ...TRACING_SETTINGS,
  LOG_LEVEL: [
    oneOf("fatal", "error", "warn", "info", "debug", "silent").default("warn"),
    "`warn`",
    "Lowest level that is logged, as JSON lines on standard error; `info` adds a line per request.",
  ],
} as const satisfies Record<string, readonly [z.ZodType, string, string]>;

type Name = keyof typeof SETTINGS;
type Values = { readonly [K in Name]: z.output<(typeof SETTINGS)[K][0]> };

/** The settings, checked and complete. */
export interface Config extends Values {
  readonly embedded: boolean;
  readonly HOST: string;
  readonly OUTBOUND_ALLOW: string[];
  readonly filesDir: string;
  /** The file that ENCRYPTION_KEYS was read from; undefined if it is set. */
  readonly keysFile?: string;
  /** Environment variables named `…_API_KEY` and `…_BASE_URL`. */
  readonly providerVariables: Readonly<Record<string, string>>;
}

/**
 * Reads the settings. An empty value counts as none.
 * @param needsKeys whether an external database needs ENCRYPTION_KEYS: not for a restore, as backups may include them
 * @throws Error that lists every invalid setting
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>, needsKeys = true): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, [type]] of Object.entries(SETTINGS)) {
    const parsed = type.safeParse(env[name]?.trim() || undefined);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(`${name} ${parsed.error.issues.map((issue) => issue.message).join("; ")}`);
  }
  const config = values as unknown as Values; // complete if no problem is listed
  const embedded =
    config.DATABASE_URL === undefined && !problems.some((line) => line.startsWith("DATABASE_URL "));
  if (needsKeys && !embedded && !env.ENCRYPTION_KEYS?.trim())
    problems.push("ENCRYPTION_KEYS must be set if DATABASE_URL is");
  for (const name of [
    "DATABASE_DIRECT_URL",
    "DATABASE_OWNER_URL",
    "DATABASE_JOBS_URL",
    "DATABASE_REPLICA_URL",
  ] as const)
    if (embedded && config[name] !== undefined) problems.push(`${name} also needs DATABASE_URL`);
  for (const store of ["S3", "BACKUP_S3"] as const)
    if (!config[`${store}_ACCESS_KEY_ID`] !== !config[`${store}_SECRET_ACCESS_KEY`])
      problems.push(`${store}_ACCESS_KEY_ID and ${store}_SECRET_ACCESS_KEY must be set together`);
  const { BOOTSTRAP_SECRET_KEY: secret, BOOTSTRAP_PUBLIC_KEY: shown } = config;
  if (secret !== undefined && secret === shown)
    problems.push("BOOTSTRAP_SECRET_KEY and BOOTSTRAP_PUBLIC_KEY must be different keys");
  if (config.VAPI_API_KEY !== undefined && !env.PUBLIC_BASE_URL?.trim())
    problems.push("PUBLIC_BASE_URL must be set if VAPI_API_KEY is: Vapi sends its callbacks there");
  problems.push(...modelProblems(config), ...graphqlProblems(config));
  if (problems.length > 0) throw mistake(new Error(listOf(problems)));
  return {
    ...config,
    embedded,
    HOST: config.HOST ?? (embedded ? "127.0.0.1" : "0.0.0.0"),
    OUTBOUND_ALLOW: config.OUTBOUND_ALLOW ?? (embedded ? LOOPBACK : []),
    filesDir: join(config.DATA_DIR, "files"),
    providerVariables: providerVariables(env, OTHER_SETTINGS),
  };
}

const listOf = (problems: readonly string[]): string =>
  `These settings are invalid:\n${problems.map((line) => `  - ${line}`).join("\n")}`;

/** Settings of the service itself, such as VAPI_API_KEY, that look like those of a model provider. */
const OTHER_SETTINGS = Object.keys(SETTINGS).filter((name) => !(name in MODEL_SETTINGS));

const LOOPBACK = ["127.0.0.0/8", "::1", "localhost"];
