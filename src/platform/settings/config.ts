import { join, resolve } from "node:path";
import { z } from "zod";
import { DATABASE_SETTINGS } from "./database-settings";
import { LIMIT_SETTINGS } from "./limit-settings";
import { flag, isHostName, isRange, list, oneOf, url, whole, withoutTrailingSlashes } from "./setting-kinds";
import { RETENTION_SETTINGS } from "./retention-settings";
import { TELEPHONY_SETTINGS } from "./telephony-settings";
import { VOICE_SETTINGS } from "./voice-settings";

const firstKey = z
  .string()
  .regex(/^[\x21-\x7e]{16,200}$/, "must be 16 to 200 printable characters without spaces");

/** Every setting: how it is read, what it is without a value, and what the README says of it. */
export const SETTINGS = {
  HOST: [
    z.string().min(1).optional(),
    "`127.0.0.1` with the embedded database, else `0.0.0.0`",
    "Address to listen on.",
  ],
  PORT: [whole(0, 65535).default(4000), "`4000`", "Port to listen on; 0 takes a free one."],
  DATA_DIR: [
    z
      .string()
      .min(1)
      .default(".data")
      .transform((path) => resolve(path)),
    "`.data`",
    "Folder of the embedded database, the uploaded files and the made-up secrets.",
  ],
  ...DATABASE_SETTINGS,
  PUBLIC_BASE_URL: [
    url("http:", "https:").transform(withoutTrailingSlashes).optional(),
    "the address listened on",
    "How clients reach the service; links to files begin with it.",
  ],
  BOOTSTRAP_SECRET_KEY: [
    firstKey.optional(),
    "made up, printed once",
    "SECRET key of the default organization, used when that is made.",
  ],
  BOOTSTRAP_PUBLIC_KEY: [
    firstKey.optional(),
    "made up, printed once",
    "PUBLIC key of the default organization, used when that is made.",
  ],
  ENCRYPTION_KEYS: [
    list
      .refine((keys) => keys.length > 0 && keys.every((key) => key.length >= 32), {
        error: "must be one or more texts of at least 32 characters, newest first, separated by commas",
      })
      .optional(),
    "made and kept in `DATA_DIR` with the embedded database, else required",
    "Protect stored secrets, tokens and links; the first writes, all read (`new,old` rotates).",
  ],
  CATALOG_FILE: [
    z.string().min(1).optional(),
    "the contract's",
    "JSON file laid over the catalogue of models and voices.",
  ],
  OPEN_SETTINGS: [
    z.union([flag, z.literal("loopback")], { error: "must be true, false or loopback" }).optional(),
    "loopback callers with the embedded database, else `false`",
    "Whether `/rest/v1/settings` works without a credential: `true` for all, `loopback` for callers on this machine, `false` for none.",
  ],
  REST_UNKNOWN_FIELDS: [
    oneOf("refuse", "ignore").default("refuse"),
    "`refuse`",
    "What an unknown field in a REST body gets: a 400, or nothing.",
  ],
  ...TELEPHONY_SETTINGS,
  ...VOICE_SETTINGS,
  GRAPHQL_INTROSPECTION: [flag.default(true), "`on`", "Whether the GraphQL schema may be asked for."],
  ...LIMIT_SETTINGS,
  TRUST_PROXY: [
    list
      .refine((entries) => entries.every(isRange), {
        error: "must be addresses or ranges such as 10.0.0.0/8, separated by commas",
      })
      .default([]),
    "none",
    "Addresses or ranges of proxies whose `X-Forwarded-*` headers are believed, separated by commas.",
  ],
  MAX_FILE_BYTES: [
    whole(1, 2_147_483_647).default(26_214_400),
    "`26214400` (25 MiB)",
    "Largest file that may be uploaded, in bytes.",
  ],
  OPENAI_API_KEY: [
    z.string().min(1).optional(),
    "the local model answers",
    "Key of OpenAI; an organization may have its own.",
  ],
  OPENAI_BASE_URL: [
    url("http:", "https:").optional(),
    "the vendor's",
    "Address to ask instead of OpenAI's own.",
  ],
  GROQ_API_KEY: [
    z.string().min(1).optional(),
    "the local model answers",
    "Key of Groq; an organization may have its own.",
  ],
  GROQ_BASE_URL: [url("http:", "https:").optional(), "the vendor's", "Address to ask instead of Groq's own."],
  ANTHROPIC_API_KEY: [
    z.string().min(1).optional(),
    "the local model answers",
    "Key of Anthropic; an organization may have its own.",
  ],
  ANTHROPIC_BASE_URL: [
    url("http:", "https:").optional(),
    "the vendor's",
    "Address to ask instead of Anthropic's own.",
  ],
  EMBEDDING_MODEL: [
    z.string().min(1).max(200).default("text-embedding-3-small"),
    "`text-embedding-3-small`",
    "Model that finds passages by what they mean, beside finding them by their words; used where the database has pgvector and there is a key; `off`: words alone.",
  ],
  EMBEDDING_API_KEY: [
    z.string().min(1).optional(),
    "what is used for OpenAI",
    "Key of the embedding model, for all organizations.",
  ],
  EMBEDDING_BASE_URL: [
    url("http:", "https:").optional(),
    "what is used for OpenAI",
    "Address of an embedding model that speaks OpenAI's protocol, for all organizations.",
  ],
  IDLE_TIMEOUT_MINUTES: [
    whole(1, 100_000).default(30),
    "`30`",
    "After how long without a message a text or SMS chat ends.",
  ],
  ...RETENTION_SETTINGS,
  WORKER: [
    flag.default(true),
    "`on`",
    "Whether this process answers chats and delivers webhooks, or leaves that to others.",
  ],
  TAKEOVER_SECONDS: [whole(1, 3_600).default(90), "`90`", "Silence after which a server counts as dead."],
  WEBHOOK_TIMEOUT_SECONDS: [whole(1, 60).default(15), "`15`", "How long a webhook's receiver may take."],
  MODEL_TIMEOUT_SECONDS: [whole(1, 600).default(120), "`120`", "How long one answer of a model may take."],
  OUTBOUND_ALLOW: [
    list
      .refine((entries) => entries.every((entry) => isRange(entry) || isHostName(entry)), {
        error:
          "must be host names, addresses or ranges such as 10.0.0.0/8, separated by commas, without scheme and port",
      })
      .optional(),
    "loopback with the embedded database, else none",
    "Private hosts, addresses and ranges (`10.0.0.0/8`) that webhooks, functions and models may reach beside public ones, separated by commas.",
  ],
  S3_BUCKET: [
    z.string().min(3, "must be the name of a bucket, of at least 3 characters").optional(),
    "unset: files in `DATA_DIR`",
    "Bucket that keeps uploaded files.",
  ],
  S3_REGION: [z.string().min(1).default("us-east-1"), "`us-east-1`", "Region of the bucket."],
  S3_ENDPOINT: [url("http:", "https:").optional(), "Amazon's", "Address of another S3-compatible store."],
  S3_ACCESS_KEY_ID: [z.string().min(1).optional(), "the machine's own role", "Access key of the store."],
  S3_SECRET_ACCESS_KEY: [z.string().min(1).optional(), "the machine's own role", "Secret key of the store."],
  LOG_LEVEL: [
    oneOf("fatal", "error", "warn", "info", "debug", "silent").default("warn"),
    "`warn`",
    "What is logged, as JSON lines on standard error: `info` has a line for each request.",
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
}

/**
 * Reads the settings. An empty value counts as none.
 * @throws Error that lists every wrong setting
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, [type]] of Object.entries(SETTINGS)) {
    const parsed = type.safeParse(env[name]?.trim() || undefined);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(`${name} ${parsed.error.issues.map((issue) => issue.message).join("; ")}`);
  }
  const config = values as unknown as Values; // complete where no problem is listed
  const embedded =
    config.DATABASE_URL === undefined && !problems.some((line) => line.startsWith("DATABASE_URL "));
  if (!embedded && !env.ENCRYPTION_KEYS?.trim())
    problems.push("ENCRYPTION_KEYS must be set where DATABASE_URL is");
  for (const name of ["DATABASE_OWNER_URL", "DATABASE_JOBS_URL"] as const)
    if (embedded && config[name] !== undefined) problems.push(`${name} needs DATABASE_URL beside it`);
  if (!config.S3_ACCESS_KEY_ID !== !config.S3_SECRET_ACCESS_KEY)
    problems.push("S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together");
  const { BOOTSTRAP_SECRET_KEY: secret, BOOTSTRAP_PUBLIC_KEY: shown } = config;
  if (secret !== undefined && secret === shown)
    problems.push("BOOTSTRAP_SECRET_KEY and BOOTSTRAP_PUBLIC_KEY must be different keys");
  if (config.VAPI_API_KEY !== undefined && !env.PUBLIC_BASE_URL?.trim())
    problems.push("PUBLIC_BASE_URL must be set where VAPI_API_KEY is: Vapi calls back there");
  if (problems.length > 0)
    throw new Error(`These settings are wrong:\n${problems.map((line) => `  - ${line}`).join("\n")}`);
  return {
    ...config,
    embedded,
    HOST: config.HOST ?? (embedded ? "127.0.0.1" : "0.0.0.0"),
    OUTBOUND_ALLOW: config.OUTBOUND_ALLOW ?? (embedded ? LOOPBACK : []),
    filesDir: join(config.DATA_DIR, "files"),
  };
}

const LOOPBACK = ["127.0.0.0/8", "::1", "localhost"];
