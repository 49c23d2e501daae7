import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { auditRows, type AuditRow } from "../support/audit";
import { elsewhere, query, waitingInstallation } from "../support/installation";
import { stubModel } from "../support/stub-model";
import {
  afterTest,
  emptyDatabase,
  emptyFolder,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  runToEnd,
  SETTINGS,
  type Env,
} from "../support/server";

const { scripts } = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as {
  scripts: Record<string, string>;
};
/** Scripts that run a command of src/cli, with its file. */
const COMMANDS = Object.fromEntries(
  Object.entries(scripts).flatMap(([name, script]) => {
    const [, file] = /launch\.mjs (cli\/[\w-]+)(?= &&|$)/.exec(script) ?? [];
    return file === undefined ? [] : [[name, file]];
  }),
);

const READS = "reads only";
/** Commands that record nothing, each with the reason. */
const WITHOUT_RECORD: Readonly<Record<string, string>> = {
  docs: "writes documents of the project",
  rows: "writes a file of the project",
  "audit:export": READS,
  "audit:verify": READS,
  backup: READS,
  export: "reads a server, which records the secrets that it shows",
  import: "changes records by mutations, which are recorded themselves",
  migrate: "changes tables, as the start of a server does",
  parley: "is a client of a server, which records what it changes",
  distribute: "moves rows between nodes, and changes nothing of an organization",
  "database:roles": "changes roles and their rights, and nothing of an organization",
};

/** Runs a command. @returns the database that it changes */
type Run = (env: Env) => Promise<string>;
const on =
  (name: string, ...options: string[]): Run =>
  async (env) => {
    const { code, stderr } = await runToEnd(COMMANDS[name]!, env, ...options);
    expect({ name, code, stderr }).toMatchObject({ name, code: 0 });
    return env.DATABASE_URL!;
  };
const restored = async (env: Env): Promise<Env> => {
  const folder = join(emptyFolder(), "backup");
  await on("backup", folder)(env);
  const copy = elsewhere(env, await emptyDatabase());
  await on("restore", folder)(copy);
  return copy;
};

/** Commands that change something, in order; the one that ends the installation is last. */
const RECORDED: Readonly<Record<string, { run: Run; expected?: Partial<AuditRow> }>> = {
  "key:create": { run: on("key:create", "--name", "made here"), expected: { recordType: "Key" } },
  "org:create": { run: on("org:create", "--name", "Another"), expected: { recordType: "Organization" } },
  connect: {
    run: async (env) => {
      const model = await stubModel({ text: ["Hello."] });
      afterTest(model.stop);
      return on("connect", "--provider", "openai", "--key", "sk-1")({ ...env, OPENAI_BASE_URL: model.url });
    },
    expected: { recordType: "ModelMapping" },
  },
  "analytics:link": {
    run: on("analytics:link", "--days", "7"),
    expected: { kind: "DISCLOSURE", recordType: "Organization", fields: [{ name: "analyticUrl" }] },
  },
  "files:adopt": { run: on("files:adopt") },
  "keys:rotate": {
    run: on("keys:rotate"),
    expected: {
      fields: expect.arrayContaining([{ name: "api_keys.sealed_value", count: expect.any(Number) }]) as never,
    },
  },
  restore: { run: async (env) => (await restored(env)).DATABASE_URL! },
  hold: { run: on("hold"), expected: { fields: [{ name: "note" }] } },
  release: {
    run: async (env) => on("release", "--drop")(await restored(env)),
    expected: {
      fields: [
        { name: "drop" },
        ...["jobs", "deliveries", "calls"].map((name) => ({ name, count: expect.any(Number) as never })),
      ],
    },
  },
  move: {
    run: async (env) => {
      const to = await emptyDatabase();
      await on("move", "--to", to)(env);
      return to;
    },
  },
};

/** Number of organizations that a command affects: `org:create` seals values with the new key from the start. */
const concernedBy = (operation: string, organizations: number): number =>
  ["key:create", "connect", "analytics:link", "keys:rotate"].includes(operation) ? 1 : organizations;

test("every command that changes data is tested here, except those with a stated reason", () => {
  expect([...Object.keys(RECORDED), ...Object.keys(WITHOUT_RECORD)].sort()).toEqual(
    Object.keys(COMMANDS).sort(),
  );
});

test(
  "a command that changes data is recorded in the audit log of each affected organization",
  async () => {
    const { env: before, server } = await waitingInstallation();
    await server.end("SIGTERM");
    const env = {
      ...before,
      ENCRYPTION_KEYS: `a new encryption key that only tests use,${SETTINGS.ENCRYPTION_KEYS}`,
    };
    for (const [operation, { run, expected }] of Object.entries(RECORDED)) {
      const url = await run(env);
      const ids = (await query<{ id: string }>(url, "select id from organizations")).map(({ id }) => id);
      const logs = await Promise.all(
        ids.map(async (id) => {
          const rows = await auditRows({ query: (text, values) => query(url, text, values) }, id);
          return rows.filter((row) => row.operation === operation);
        }),
      );
      const rows = logs.flat().map((row) => ({ of: operation, ...row }));
      expect(rows).toContainEqual(
        expect.objectContaining({ of: operation, actor: "OPERATOR", interface: "COMMAND", ...expected }),
      );
      const concerned = logs.filter((log) => log.length > 0).length;
      expect([operation, concerned]).toEqual([operation, concernedBy(operation, ids.length)]);
    }
  },
  8 * SERVER_TIMEOUT_MS,
);

test(
  "migrate prepares an empty database, prints its keys once, and may be repeated",
  async () => {
    const { BOOTSTRAP_SECRET_KEY: _secret, BOOTSTRAP_PUBLIC_KEY: _public, ...settings } = SETTINGS;
    const env = { ...settings, DATA_DIR: emptyFolder(), DATABASE_URL: await emptyDatabase() };
    const { code, stdout } = await runToEnd(COMMANDS.migrate!, env);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/SECRET {2}parley_sk_\w+\n[^]*all migrations/)]);
    const again = await runToEnd(COMMANDS.migrate!, env);
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringMatching(/^The database has all migrations/),
    ]);
    expect(await runToEnd(COMMANDS.migrate!, env, "--now")).toMatchObject({ code: 1 });
  },
  SERVER_TIMEOUT_MS,
);

test(
  "audit:verify refuses exports without the head of the chain, invalid exports and unknown organizations",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    const { stdout: whole } = await runToEnd("cli/audit-export", env);
    const file = join(emptyFolder(), "audit.ndjson");
    const verify = async (content: string) => {
      writeFileSync(file, content);
      return runToEnd("cli/audit-verify", env, "--file", file);
    };
    expect(await verify(whole)).toMatchObject({ code: 0, stdout: expect.stringContaining('"UNBROKEN"') });
    const lines = whole.trim().split("\n");
    for (const cut of [lines.slice(0, -1).join("\n"), ""])
      expect(await verify(cut)).toMatchObject({
        code: 1,
        stdout: expect.stringContaining("without the head"),
      });
    const noExport = { code: 1, stderr: expect.stringContaining("Line 1 is not JSON") };
    expect(await verify("# Parley")).toMatchObject(noExport);
    expect(await runToEnd("cli/audit-verify", env, "--organization", "nonsense")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`No organization with id "nonsense".`),
    });
  },
  5 * SERVER_TIMEOUT_MS,
);
