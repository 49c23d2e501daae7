import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { envExample } from "../../src/cli/settings-documents";
import { readConfig } from "../../src/platform/settings/config";
import { statement } from "../support/database";
import {
  afterTest,
  emptyFolder,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  runToEnd,
  SETTINGS,
  startServer,
} from "../support/server";

/** Lines of an error, without a stack. */
const lines = (text: string) => text.trimEnd().split("\n");

describe("startup with invalid settings", () => {
  test("refuses arguments, which would have no effect", async () => {
    const { code, stderr } = await runToEnd("main", SETTINGS, "--port", "5000");
    expect([code, stderr]).toEqual([
      78,
      'The server takes no arguments; got "--port". Its settings come from the environment and from .env: see docs/settings.md.\n',
    ]);
  });

  test("lists all of them in one message and exits with 1", async () => {
    const { code, stdout, stderr } = await runToEnd("main", {
      PORT: "many",
      DATABASE_URL: "mysql://localhost/parley",
      DATABASE_POOL: "0",
      ROW_LEVEL_SECURITY: "perhaps",
      PUBLIC_BASE_URL: "ftp://example.com",
      BOOTSTRAP_SECRET_KEY: "too-short",
      ENCRYPTION_KEYS: "short,too",
      REST_UNKNOWN_FIELDS: "keep",
      VOICE_ENGINE: "Not A Word",
      VOICE_ENGINE_SECRET: "too-short",
      VOICE_ENGINE_TIMEOUT_SECONDS: "0",
      VAPI_BASE_URL: "api.vapi.ai",
      CALL_COUNTRIES: "US, Switzerland",
      CALL_MAX_SECONDS: "an hour",
      SIMULATOR_SPEED: "0",
      OPEN_SETTINGS: "perhaps",
      OUTBOUND_ALLOW: "10.0.0.0/99,http://host,host:80",
      RATE_LIMIT_ORGANIZATION: "-1",
      S3_ACCESS_KEY_ID: "without its secret",
      S3_BUCKET: "b",
      TRUST_PROXY: "127.0.0.1,proxy",
      LOG_LEVEL: "loud",
    });
    expect(code).toBe(78);
    expect(stdout).toBe("");
    const [headline, ...problems] = lines(stderr);
    expect(headline).toBe("These settings are invalid:");
    expect(
      problems
        .map((line) => /^ {2}- ([A-Z0-9_]+)(?: and [A-Z0-9_]+)? must be /.exec(line)?.[1] ?? line)
        .sort(),
    ).toEqual([
      "BOOTSTRAP_SECRET_KEY",
      "CALL_COUNTRIES",
      "CALL_MAX_SECONDS",
      "DATABASE_POOL",
      "DATABASE_URL",
      "ENCRYPTION_KEYS",
      "LOG_LEVEL",
      "OPEN_SETTINGS",
      "OUTBOUND_ALLOW",
      "PORT",
      "PUBLIC_BASE_URL",
      "RATE_LIMIT_ORGANIZATION",
      "REST_UNKNOWN_FIELDS",
      "ROW_LEVEL_SECURITY",
      "S3_ACCESS_KEY_ID",
      "S3_BUCKET",
      "SIMULATOR_SPEED",
      "TRUST_PROXY",
      "VAPI_BASE_URL",
      "VOICE_ENGINE",
      "VOICE_ENGINE_SECRET",
      "VOICE_ENGINE_TIMEOUT_SECONDS",
    ]);
    expect(stderr).not.toContain("too-short");
  });

  test("requires ENCRYPTION_KEYS for an external database", async () => {
    const { code, stderr } = await runToEnd("main", { DATABASE_URL: "postgres://127.0.0.1:1/nowhere" });
    expect(code).toBe(78);
    expect(lines(stderr)).toEqual([
      "These settings are invalid:",
      "  - ENCRYPTION_KEYS must be set if DATABASE_URL is",
    ]);
  });

  test("requires two different keys", async () => {
    const key = "the same key for both";
    const { code, stderr } = await runToEnd("main", {
      BOOTSTRAP_SECRET_KEY: key.replaceAll(" ", "-"),
      BOOTSTRAP_PUBLIC_KEY: key.replaceAll(" ", "-"),
    });
    expect(code).toBe(78);
    expect(lines(stderr)).toEqual([
      "These settings are invalid:",
      "  - BOOTSTRAP_SECRET_KEY and BOOTSTRAP_PUBLIC_KEY must be different keys",
    ]);
  });

  test("requires PUBLIC_BASE_URL for callbacks of Vapi", async () => {
    const { code, stderr } = await runToEnd("main", { VAPI_API_KEY: "key" });
    expect(code).toBe(78);
    expect(lines(stderr)).toEqual([
      "These settings are invalid:",
      "  - PUBLIC_BASE_URL must be set if VAPI_API_KEY is: Vapi sends its callbacks there",
    ]);
  });

  test("is refused by commands too", async () => {
    const { code, stdout, stderr } = await runToEnd("cli/org-create", { PORT: "-1" }, "--name", "Nobody's");
    expect(code).toBe(78);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^These settings are invalid:\n {2}- PORT must be .*\n$/);
  });
});

describe("an unusable address is reported in one line, before a database is created:", () => {
  test("one that is in use", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    afterTest(() => holder.close());
    await once(holder, "listening");
    const { port } = holder.address() as AddressInfo;
    const DATA_DIR = emptyFolder();
    const { code, stdout, stderr } = await runToEnd("main", { PORT: String(port), DATA_DIR });
    expect([code, stdout]).toEqual([1, ""]);
    expect(lines(stderr)).toEqual([
      `The address 127.0.0.1:${port} is already in use. Set PORT to another port, or stop the process using it.`,
    ]);
    expect(readdirSync(DATA_DIR)).toEqual([]);
  });

  test("one that is not an address of this machine", async () => {
    const { code, stdout, stderr } = await runToEnd("main", {
      ...SETTINGS,
      HOST: "192.0.2.1",
      DATA_DIR: emptyFolder(),
    });
    expect([code, stdout]).toEqual([1, ""]);
    expect(lines(stderr)).toEqual([
      expect.stringMatching(/^HOST 192\.0\.2\.1 .*EADDRNOTAVAIL.*Set HOST to an address of this machine/),
    ]);
  });
});

test(
  "keys without the previous one are reported in one line, and nothing is changed",
  async () => {
    const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase() };
    const ENCRYPTION_KEYS = "another encryption key without the one before";
    const { code, stdout, stderr } = await runToEnd("main", { ...env, ENCRYPTION_KEYS });
    expect([code, stdout]).toEqual([78, ""]);
    expect(lines(stderr)).toEqual([expect.stringMatching(/^ENCRYPTION_KEYS lacks .* new,old\.$/)]);
    const both = await startServer({
      ...env,
      ENCRYPTION_KEYS: `${ENCRYPTION_KEYS},${SETTINGS.ENCRYPTION_KEYS}`,
    });
    await both.api.get("/rest/v1/organization/keys", 200);
  },
  SERVER_TIMEOUT_MS,
);

test.each(["/dev/null", "/dev/null/data"])(
  "a DATA_DIR that cannot be created is reported in one line: %s",
  async (folder) => {
    const { code, stderr } = await runToEnd("main", { DATA_DIR: folder });
    expect(code).toBe(78);
    expect(lines(stderr)).toEqual([expect.stringMatching(/^DATA_DIR .*\/dev\/null/)]);
  },
);

describe("org:create", () => {
  test.each([
    [[], "Name the organization"],
    [["--name", "  "], "Name the organization"],
    [["--nam", "Typing error"], "--nam"],
  ])("prints its usage for the arguments %j", async (options, told) => {
    const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase() };
    const { code, stdout, stderr } = await runToEnd("cli/org-create", env, ...options);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain(told);
  });

  test("reports a folder without a database, and creates none whose first keys would never be shown", async () => {
    const folder = emptyFolder();
    const { code, stdout, stderr } = await runToEnd("cli/org-create", { DATA_DIR: folder }, "--name", "Lost");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(lines(stderr).slice(0, 3)).toEqual([
      `Database: embedded PostgreSQL in ${folder}`,
      `DATA_DIR ${folder} has no database yet, and DATABASE_URL is not set.`,
      expect.stringContaining("run the command with the server's environment"),
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test(".env.example is up to date; otherwise run `npm run docs`", () => {
  const text = readFileSync(join(__dirname, "../../.env.example"), "utf8");
  expect(text).toBe(envExample());
  expect(text).toContain("\n# PORT=4000\n");
  const set = text.replaceAll(/^# (\w+=.+)$/gm, "$1").split("\n");
  const env = Object.fromEntries(
    set.flatMap((line) => (/^[A-Z]/.test(line) ? [line.split("=") as [string, string]] : [])),
  );
  expect(readConfig(env)).toEqual(readConfig({})); // the documented defaults are the real ones
});

test(
  "an older program reports in one sentence that the database is newer, and what to do",
  async () => {
    const DATABASE_URL = await preparedDatabase();
    await statement(DATABASE_URL, "insert into knex_migrations (name, batch) values ('999-tomorrow', 99)");
    const { code, stdout, stderr } = await runToEnd("main", { ...SETTINGS, DATABASE_URL });
    expect([code, stdout]).toEqual([78, ""]);
    expect(lines(stderr)).toEqual([
      "A newer version of Parley has upgraded this database (migration 999-tomorrow): start that version or a later one, or restore a backup made before the upgrade.",
    ]);
  },
  SERVER_TIMEOUT_MS,
);
