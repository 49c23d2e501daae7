import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { LINK_PERIODS } from "../../src/account/organization/analytics-tokens";
import COMMANDS from "../../src/cli/commands.json";
import { asInstalled } from "../../src/platform/installed";
import { emptyFolder, runAt } from "../support/server";

const ROOT = join(__dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};
/** Programs of others, which have a help of their own, some after a check of ours. */
const TOOLS =
  /^([A-Z\d_]+=\S+ |node( --\S+)* node_modules\/|node (test|src\/web)\/\S+ && )*(jest|typescript-7|eslint|prettier)\b/;
/** Our scripts, each with the arguments of the launcher. */
const OWN = Object.entries(scripts).flatMap(([name, text]) =>
  TOOLS.test(text) ? [] : [[name, text.split("src/cli/launch.mjs")[1]?.trim().split(" ") ?? []] as const],
);
/** Settings with which no program starts. */
const INVALID = { PORT: "none", DATABASE_URL: "mysql://nowhere", LOG_LEVEL: "loud" };
/** Files that the commands for developers write. */
const WRITTEN = [
  "docs/settings.md",
  "src/platform/database/tables/tables.generated.ts",
  "schema/schema.graphql",
];

test("every script either starts one of our programs, which has a usage, or a tool", () => {
  const programs = OWN.map(([, [program]]) => program || "build");
  expect(programs.sort()).toEqual(Object.keys(COMMANDS).sort());
  for (const [name] of OWN) expect(scripts[name]).not.toContain("&&"); // npm passes options to the last program only
  expect(COMMANDS["cli/analytics-link"].usage).toContain(LINK_PERIODS.join("|"));
});

describe.each(OWN)("npm run %s", (name, [program = ""]) => {
  test("prints its usage for --help, whatever the settings are, and touches nothing", () => {
    const times = () => WRITTEN.map((file) => statSync(join(ROOT, file)).mtimeMs);
    const before = times();
    const DATA_DIR = join(emptyFolder(), "data");
    const options = [join(ROOT, "src/cli/launch.mjs"), ...(program === "" ? [] : [program]), "--help"];
    const { status, stdout, stderr } = spawnSync(process.execPath, options, {
      encoding: "utf8",
      env: { PATH: process.env.PATH, ...INVALID, DATA_DIR },
    });
    expect([status, stderr]).toEqual([0, ""]);
    const shown = name === "start" ? "npm start" : `npm run (--silent )?${name}\\b`;
    expect(stdout).toMatch(
      new RegExp(
        `^Usage: ${shown}[^]*\n\n[A-Z][^]*\\.\n\n([^]*\n\n)?Exit codes:\n {2}0 {2}.+\n {2}1 {2}[^]*\n\nExample:\n {2}.+\n$`,
      ),
    );
    expect(times()).toEqual(before);
    expect(existsSync(DATA_DIR)).toBe(false);
  });
});

interface Described {
  readonly usage: string;
  readonly options?: Readonly<Record<string, string | null>>;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly example: string;
}
const ALL: [name: string, command: Described][] = [
  ...Object.entries<Described>(COMMANDS),
  ...Object.entries<Described>(COMMANDS["cli/files"].commands),
];

test.each(ALL)(
  "the help of %s describes each option of the usage, and its example has no other",
  (_, command) => {
    const { usage, options = {}, example } = command;
    const namedIn = (text: string) => [...new Set(text.match(/(?<= |\[|\|)--[a-z][a-z-]*/g))].sort();
    const own = (text: string) => namedIn(text.replaceAll("--silent ", ""));
    const described = Object.keys(options).map((name) => name.split(" ")[0]);
    expect(described.sort()).toEqual(own(usage));
    expect(own(example).filter((name) => !described.includes(name))).toEqual([]);
  },
);

test.each(Object.keys(COMMANDS["cli/files"].commands))("parley help %s describes this command", (name) => {
  const { usage, effect } = COMMANDS["cli/files"].commands[name as "pull"];
  const asked = [
    [name, "--help"],
    ["help", name],
    ["-h", name],
  ].map((options) => {
    const launcher = [join(ROOT, "src/cli/launch.mjs"), "cli/files", ...options];
    return spawnSync(process.execPath, launcher, { encoding: "utf8", env: { PATH: process.env.PATH } });
  });
  for (const { status, stdout } of asked) {
    expect([status, stdout.split("\n")[0]]).toEqual([0, `Usage: ${usage}`]);
    expect(stdout.replaceAll("\n", " ")).toContain(effect);
    expect(stdout).toMatch(/\n {2}--wait SECONDS {2}.*\(default: 60\)\n/);
    expect(stdout).toContain("\n  PARLEY_URL  ");
  }
});

describe("parley of a checkout", () => {
  const run = (...options: string[]) => {
    const launcher = [join(ROOT, "src/cli/launch.mjs"), "cli/files", ...options];
    const env = { PATH: process.env.PATH };
    const { status, stdout, stderr } = spawnSync(process.execPath, launcher, { encoding: "utf8", env });
    return { status, stdout, stderr };
  };

  test.each([
    ["import", "nosuch"],
    ["export", "a", "b"],
  ])("runs %s, which npm runs by its own name too", (name, ...options) => {
    const { usage } = COMMANDS[`cli/${name}` as "cli/import"];
    expect(run(name, ...options)).toMatchObject({ status: 1, stderr: expect.stringContaining(usage) });
  });

  test.each([
    ["help", "nosuch"],
    ["nosuch", "--help"],
    ["-h", "nosuch"],
    ["help", "bench"],
    ["help", "parley"],
  ])("refuses %s %s as the program of the package does", (...options) => {
    const name = options.find((one) => one !== "help" && !one.startsWith("-"));
    expect(run(...options)).toEqual({
      status: 1,
      stdout: "",
      stderr: `Parley has no command "${name}".\nUsage: ${COMMANDS["cli/files"].usage}\n`,
    });
  });

  test.each(["import", "export", "key:create"])("describes %s, which npm runs", (name) => {
    const program = `cli/${name.replace(":", "-")}` as "cli/import";
    const described = { status: 0, stdout: expect.stringContaining(COMMANDS[program].usage), stderr: "" };
    expect(run("help", name)).toEqual(described);
  });

  test.each([[["help"]], [["--help"]], [["help", "help"]], [["--url", "http://127.0.0.1:4000", "-h"]]])(
    "describes all of its commands for %j",
    (options) => {
      const described = {
        status: 0,
        stdout: expect.stringContaining(COMMANDS["cli/files"].usage),
        stderr: "",
      };
      expect(run(...options)).toEqual(described);
    },
  );
});

test("a program that is started without npm prints its usage, too", async () => {
  const { code, stdout } = await runAt({ cwd: emptyFolder() }, "cli/backup", INVALID, "--help");
  expect([code, stdout]).toEqual([0, expect.stringContaining(COMMANDS["cli/backup"].usage)]);
});

describe("the program of the package", () => {
  const PROGRAM = join(ROOT, "src/cli/parley.cjs");
  const run = (...options: string[]) => {
    const env = { PATH: process.env.PATH, npm_command: "exec", ...INVALID };
    const { status, stdout, stderr } = spawnSync(PROGRAM, options, { encoding: "utf8", env });
    return { status, stdout, stderr };
  };

  test("lists the commands for operators, each with a usage", () => {
    const { status, stdout } = run("--help");
    const listed = [...stdout.matchAll(/^ {2}([a-z:]+) +[A-Z]/gm)].map(([, name]) => name);
    const isForOperators = (program: string) =>
      /^[a-z]/.test(program) && !COMMANDS[program as "main"].effect.startsWith("For developers");
    expect([status, listed]).toEqual([
      0,
      [
        ...OWN.filter(([name, [program = ""]]) => name !== "parley" && isForOperators(program)).map(
          ([name]) => name,
        ),
        ...["pull", "diff", "apply", "validate"],
      ],
    ]);
    expect(run("backup", "--help").stdout).toMatch(/^Usage: parley backup DIR/);
    for (const asked of [
      ["apply", "--help"],
      ["help", "apply"],
    ])
      expect(run(...asked).stdout).toMatch(
        /^Usage: parley apply \[DIR\] \[--prune\] \[--dry-run\][^]*\nExample:\n {2}parley apply --dry-run\n$/,
      );
    expect(run("help", "backup")).toEqual(run("backup", "--help"));
    expect(run("key:create", "-h").stdout).toMatch(/^Usage: parley key:create \[--organization ID\]/);
  });

  test("refuses other commands, and prints errors with commands that it has", () => {
    const unknown = { status: 1, stderr: expect.stringMatching(/^Parley has no command "bench"\.\n/) };
    expect(run("bench")).toMatchObject(unknown);
    expect(run("help", "bench")).toMatchObject(unknown);
    const option =
      /^Parley has no option "--port": settings are variables of the environment or of the file \.env/;
    expect(run("--port", "5000")).toMatchObject({ status: 78, stderr: expect.stringMatching(option) });
    expect(run("--version").stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const held = "run `npm run release -- --drop`, or `npm start`; `-- --apply` runs it";
    expect(asInstalled(held, "npx parley")).toBe(
      "run `npx parley release --drop`, or `npx parley`; `--apply` runs it",
    );
    expect(asInstalled(held)).toBe(held);
  });

  test("starts Node with the flags of npm start", () => {
    const [, line] = readFileSync(PROGRAM, "utf8").split("\n");
    expect(line!.match(/--\S+/g)).toEqual(scripts.start!.match(/--\S+/g));
  });
});
