import { expect, test } from "@jest/globals";
import { newChat, quietAssistant, say } from "../support/factories";
import { query } from "../support/installation";
import {
  afterTest,
  emptyDatabase,
  emptyFolder,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  runToEnd,
  SETTINGS,
  startServer,
} from "../support/server";
import { until } from "../support/until";
import { statement } from "../support/database";

const LONG = 4 * SERVER_TIMEOUT_MS;
const unique = (name: string) => `${name}_${Math.random().toString(36).slice(2)}`;

/** Creates a role for the test. */
async function newRole(attributes: string): Promise<string> {
  const role = unique("role");
  await statement(process.env.TEST_POSTGRES!, `create role ${role} login password 'x' ${attributes}`);
  return role;
}

const as = (url: string, role: string): string => {
  const other = new URL(url);
  other.username = role;
  other.password = "x";
  return other.href;
};

test(
  "an installation with a single owner role gets its roles by a command, and runs turns, jobs and cron with them",
  async () => {
    const owner = await preparedDatabase();
    const before = { ...SETTINGS, DATABASE_URL: owner, DATA_DIR: emptyFolder() };
    const names = ["--serving", unique("serving"), "--jobs", unique("jobs")];
    const printed = await runToEnd("cli/database-roles", before, ...names);
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining("create role") });
    const { code, stdout, stderr } = await runToEnd("cli/database-roles", before, "--apply", ...names);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const made = Object.fromEntries(
      [...stdout.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name, value]) => [name!, value!]),
    );
    afterTest(async () => {
      for (const name of [names[1]!, names[3]!]) {
        await statement(owner, `drop owned by ${name}`);
        await statement(process.env.TEST_POSTGRES!, `drop role if exists ${name}`).catch(() => undefined);
      }
    });
    const env = { ...before, ...made };
    expect((await runToEnd("cli/database-roles", env, "--apply")).code).toBe(0); // once more changes nothing
    const server = await startServer(env);
    const chatId = await newChat(server.api, await quietAssistant(server.api));
    await say(server.api, chatId, "Hello?", "USER");
    await until(
      async () =>
        (await query(owner, "select 1 from messages where chat_id = $1 and role = 'ASSISTANT'", [chatId]))
          .length === 1,
    );
    await query(owner, "select graphile_worker.add_job('facts.keep')");
    await until(
      async () =>
        (await query(owner, "select 1 from graphile_worker.jobs where task_identifier = 'facts.keep' "))
          .length === 0,
    );
    const periodic = await query(owner, "select 1 from graphile_worker.jobs where key = task_identifier");
    expect(periodic.length).toBeGreaterThan(2);
    await server.end("SIGTERM");
    // A server with the former single role still works.
    const older = await startServer(before);
    expect((await older.api.get(`/rest/v1/assistants`, 200)).data).toHaveLength(1);
  },
  LONG,
);

test(
  "a superuser runs the printed SQL for a role that may not create roles, as the deployment guide creates it",
  async () => {
    const superuser = await emptyDatabase();
    const role = await newRole("");
    const names = [unique("serving"), unique("jobs")] as const;
    afterTest(async () => {
      await statement(superuser, `reassign owned by ${role} to current_user`);
      for (const name of [...names, role]) {
        await statement(superuser, `drop owned by ${name}`);
        await statement(superuser, `drop role ${name}`);
      }
    });
    await statement(superuser, `alter database ${new URL(superuser).pathname.slice(1)} owner to ${role}`);
    await statement(superuser, `alter schema public owner to ${role}`);
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: as(superuser, role) };
    await (await startServer(env)).end("SIGTERM");
    const options = ["--serving", names[0], "--jobs", names[1]];
    const refused = await runToEnd("cli/database-roles", env, "--apply", ...options);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("have a superuser run the printed SQL with psql"),
    });
    const { stdout } = await runToEnd("cli/database-roles", env, ...options);
    await statement(superuser, stdout);
    const settings = Object.fromEntries(
      [...stdout.matchAll(/^-- ([A-Z_]+)='(.*)'$/gm)].map(([, name, value]) => [name!, value!]),
    );
    const server = await startServer({ ...env, ...settings });
    expect(server.stdout()).toContain("row-level security on");
    expect(server.stdout()).not.toContain(new URL(settings.DATABASE_URL!).password);
  },
  LONG,
);

test.each([
  ["a superuser", "superuser", "", /is a superuser/],
  ["one that bypasses row-level security", "bypassrls", "", /has BYPASSRLS/],
  ["one that owns tables", "", "alter table files owner to", /owns tables/],
  ["one without rights", "", "", /lacks rights on/],
])(
  "ROW_LEVEL_SECURITY keeps a server from starting if its role is %s",
  async (_, attributes, change, message) => {
    const owner = await preparedDatabase();
    const role = await newRole(attributes);
    afterTest(async () => {
      await statement(owner, `reassign owned by ${role} to current_user`);
      await statement(owner, `drop owned by ${role}`);
      await statement(process.env.TEST_POSTGRES!, `drop role ${role}`);
    });
    if (change) await statement(owner, `${change} ${role}`);
    const env = {
      ...SETTINGS,
      DATA_DIR: emptyFolder(),
      DATABASE_OWNER_URL: owner,
      DATABASE_URL: as(owner, role),
      ROW_LEVEL_SECURITY: "true",
    };
    const { code, stderr } = await runToEnd("main", env);
    expect({ code, stderr }).toMatchObject({ code: 78, stderr: expect.stringMatching(message) });
    expect(stderr).toContain("npm run database:roles");
  },
  LONG,
);

test(
  "a role in DATABASE_URL that does not exist may have a wrong name",
  async () => {
    const owner = await preparedDatabase();
    const jobs = { DATABASE_JOBS_URL: as(owner, "parley_nobody") };
    const env = { ...SETTINGS, ...jobs, DATABASE_OWNER_URL: owner, DATABASE_URL: as(owner, "parley_nobody") };
    const { code, stderr } = await runToEnd("cli/migrate", { ...env, DATA_DIR: emptyFolder() });
    expect(code).toBe(78);
    expect(stderr).toContain("has no role parley_nobody");
    expect(stderr).toContain("or correct its name in DATABASE_URL");
  },
  LONG,
);

test(
  "a first start that refuses its role creates no keys, which would never be shown",
  async () => {
    const url = await emptyDatabase();
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: url, ROW_LEVEL_SECURITY: "true" };
    expect(await runToEnd("main", env)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining("ROW_LEVEL_SECURITY is set"),
    });
    expect(await query(url, "select from organizations")).toEqual([]);
  },
  LONG,
);

test(
  "a server reports at startup that its role cannot access the jobs",
  async () => {
    const owner = await preparedDatabase();
    const serving = new URL(owner);
    serving.username = serving.password = "parley_app"; // made by database:roles for all tests
    const env = {
      ...SETTINGS,
      DATA_DIR: emptyFolder(),
      DATABASE_OWNER_URL: owner,
      DATABASE_URL: serving.href,
      ROW_LEVEL_SECURITY: "true",
    };
    const { code, stderr } = await runToEnd("main", env);
    expect({ code, stderr }).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/cannot see the jobs/),
    });
  },
  LONG,
);
