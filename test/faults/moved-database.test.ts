import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { query } from "../support/installation";
import {
  emptyDatabase,
  emptyFolder,
  preparedDatabase,
  runToEnd,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  startServer,
} from "../support/server";

const LONG = 4 * SERVER_TIMEOUT_MS;
const { scripts } = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as {
  scripts: Record<string, string>;
};
/** Commands that open no database, or that need an empty one. */
const WITHOUT_DATABASE = ["cli/docs", "cli/export", "cli/files", "cli/import", "cli/rows", "cli/restore"];
const commands = Object.values(scripts)
  .flatMap((script) => /launch\.mjs (cli\/[\w-]+)/.exec(script)?.[1] ?? [])
  .filter((program) => !WITHOUT_DATABASE.includes(program));

/** Options without which a command would be refused for another reason. */
const OPTIONS: Readonly<Record<string, () => Promise<string[]> | string[]>> = {
  "cli/backup": () => [join(emptyFolder(), "backup")],
  "cli/move": async () => ["--to", await emptyDatabase()],
  "cli/org-create": () => ["--name", "Too late"],
};

test(
  "every command except release refuses a database that was moved away, and names its new place",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    const to = new URL(await emptyDatabase());
    const moved = await runToEnd("cli/move", env, "--to", to.href);
    expect(moved).toMatchObject({ code: 0 });
    expect(commands.length).toBeGreaterThan(8);
    const keys = "select id from api_keys order by id";
    const before = await query(env.DATABASE_URL, keys);
    for (const program of commands.filter((one) => one !== "cli/release")) {
      const { code, stdout, stderr } = await runToEnd(program, env, ...((await OPTIONS[program]?.()) ?? []));
      expect({ program, code, stdout }).toEqual({ program, code: 1, stdout: "" });
      expect({ program, stderr }).toEqual({
        program,
        stderr: expect.stringContaining(`was moved to ${to.host}${to.pathname} at `),
      });
      expect(stderr).toContain("Set DATABASE_URL to the new database");
      expect(stderr).not.toContain(to.password);
    }
    expect(await query(env.DATABASE_URL, keys)).toEqual(before);
    const server = await startServer(env);
    expect(server.stdout()).toContain(`HELD: moved to ${to.host}${to.pathname} at `);
    expect(server.stdout()).toContain("set DATABASE_URL to the new database. Only to undo the move");
    expect(await server.api.get("/health/ready", 200)).toMatchObject({ held: true });
    await server.end("SIGTERM");
    expect(await runToEnd("cli/key-create", { ...env, DATABASE_URL: to.href })).toMatchObject({
      code: 0,
      stderr: `Database: PostgreSQL at ${to.host}${to.pathname}\n`,
    });
    expect(await runToEnd("cli/release", env)).toMatchObject({ code: 0 });
    expect(await runToEnd("cli/key-create", env)).toMatchObject({ code: 0 });
  },
  LONG,
);

test(
  "a command without the environment of the server names DATABASE_URL after a move from the embedded database",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder() };
    await (await startServer(env)).end("SIGTERM");
    const to = await emptyDatabase();
    expect(await runToEnd("cli/move", env, "--to", to)).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await runToEnd("cli/key-create", env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`Database: embedded PostgreSQL in ${env.DATA_DIR}`);
    expect(stderr).toContain("DATABASE_URL is not set");
  },
  LONG,
);

test(
  "after an interrupted move both databases say so, and the move can be repeated",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    const to = await emptyDatabase();
    const move = () => runToEnd("cli/move", env, "--to", to);
    expect(await move()).toMatchObject({ code: 0 });
    await query(env.DATABASE_URL, "update holds set finished_at = null");
    await query(to, "update holds set finished_at = null, released_at = null");
    const former = await startServer(env);
    expect(former.stdout()).toMatch(
      /HELD: a move to .* was interrupted\. This database still has everything/,
    );
    await former.end("SIGTERM");
    expect(await runToEnd("main", { ...env, DATABASE_URL: to })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Run `npm run move` again"),
    });
    expect(await move()).toMatchObject({ code: 0 });
    expect((await startServer(env)).stdout()).toContain("HELD: moved to ");
    expect((await startServer({ ...env, DATABASE_URL: to })).stdout()).not.toContain("HELD");
  },
  LONG,
);
