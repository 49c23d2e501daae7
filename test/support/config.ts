import { readConfig, type Config } from "../../src/platform/settings/config";

/** The keys of the default organization in every test database. */
export const SECRET_KEY = "secret-key-of-the-default-organization";
export const PUBLIC_KEY = "public-key-of-the-default-organization";

/** Settings of the whole run, such as `{"LOG_LEVEL":"debug"}`. */
const OF_RUN = JSON.parse(process.env.TEST_SETTINGS ?? "{}") as Record<string, string>;

/** Settings for tests: no log output, no worker, row-level security. The run and the files may replace them. */
export function configOf(env: Record<string, string> = {}): Config {
  return readConfig({
    ENCRYPTION_KEYS: "an encryption key that only tests use",
    BOOTSTRAP_SECRET_KEY: SECRET_KEY,
    BOOTSTRAP_PUBLIC_KEY: PUBLIC_KEY,
    ROW_LEVEL_SECURITY: "true",
    LOG_LEVEL: "silent",
    PORT: "0",
    WORKER: "off",
    ...OF_RUN,
    ...env,
  });
}
