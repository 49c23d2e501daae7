import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "@jest/globals";
import { readConfig, SETTINGS } from "../../src/platform/settings/config";
import { tooOld } from "../../src/platform/database/connections/suitable";
import { misspelledSettings } from "../../src/platform/settings/misspelled";
import { stubPostgres } from "../support/stub-postgres";
import { swapsOf } from "../support/swaps";

/** A checkout that has not been built. */
const checkout = mkdtempSync(join(tmpdir(), "parley-checkout-"));
afterAll(() => rmSync(checkout, { recursive: true, force: true }));
chmodSync(checkout, 0o755);
mkdirSync(join(checkout, "node_modules/typescript"), { recursive: true });
const root = join(__dirname, "../..");
for (const path of ["src/cli", "src/platform", "package.json"])
  cpSync(join(root, path), join(checkout, path), { recursive: true });
for (const name of ["esbuild", "pg", "damerau-levenshtein"])
  symlinkSync(join(root, "node_modules", name), join(checkout, "node_modules", name));

/** The user of programs started by `start`. */
const USER = process.getuid?.() === 0 ? "nobody" : userInfo().username;

/** Runs `npm start`'s program; as root, for another user. */
async function start(env: Record<string, string>, asOther = true) {
  const user = asOther && process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const program = [join(checkout, "src/cli/launch.mjs"), "main"];
  const child = spawn(process.execPath, program, { env: { PATH: process.env.PATH!, ...env }, ...user });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return { code: code as number, lines: stderr.trimEnd().split("\n") };
}

const NOT_INSTALLED = "The packages of Parley are not installed in FOLDER. Run `npm ci` first.\n";
const CANNOT_BUILD =
  ", and the packages that build it are not installed: `npm ci --omit=dev` leaves them out.\n" +
  "Run `npm ci && npm run build`. Afterwards, `npm prune --omit=dev` removes these packages.\n";
const NOT_BUILT = `Parley is not built in FOLDER${CANNOT_BUILD}`;
const OF_OTHER_SOURCES = `The build in FOLDER was made from other sources than those beside it (server)${CANNOT_BUILD}`;

test.each([
  ["without packages", [], NOT_INSTALLED],
  ["without a build and the packages that build", ["pg", "typescript"], NOT_BUILT],
])("a clone %s says what to run, for every program", (_, packages, message) => {
  const clone = mkdtempSync(join(tmpdir(), "parley-clone-"));
  for (const path of ["src/cli", "package.json"])
    cpSync(join(root, path), join(clone, path), { recursive: true });
  for (const name of packages) mkdirSync(join(clone, "node_modules", name), { recursive: true });
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const programs = Object.values(scripts).flatMap((text) => /launch\.mjs(?: (\S+))?/.exec(text)?.[1] ?? []);
  for (const program of ["main", ...programs.slice(0, 2), "--server"]) {
    const { status, stderr } = spawnSync(process.execPath, [join(clone, "src/cli/launch.mjs"), program], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([78, message.replace("FOLDER", clone)]);
  }
  rmSync(clone, { recursive: true });
});

test("a checkout without the packages that build runs its build, unless the sources have changed since", () => {
  const clone = mkdtempSync(join(tmpdir(), "parley-clone-"));
  const stamp = "dist/.built-server"; // first, because a copy has not always the order of the original's times
  const sources = [
    "schema",
    "src",
    "rest-compat",
    "knexfile.ts",
    "tsconfig.json",
    "package-lock.json",
    "package.json",
  ];
  for (const path of [stamp, ...sources]) cpSync(join(root, path), join(clone, path), { recursive: true });
  for (const name of ["pg", "typescript"]) mkdirSync(join(clone, "node_modules", name), { recursive: true });
  const build = () => {
    const program = [join(clone, "src/cli/launch.mjs"), "--server"];
    const { status, stderr } = spawnSync(process.execPath, program, { encoding: "utf8" });
    return [status, stderr];
  };
  const before = build();
  appendFileSync(join(clone, "src/main.ts"), "// pulled\n");
  const after = build();
  rmSync(clone, { recursive: true });
  expect([before, after]).toEqual([
    [0, ""],
    [78, OF_OTHER_SOURCES.replace("FOLDER", clone)],
  ]);
});

describe("npm start reports before it builds", () => {
  test("an address in use", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const { port } = holder.address() as AddressInfo;
    const DATA_DIR = mkdtempSync(join(tmpdir(), "parley-data-"));
    chmodSync(DATA_DIR, 0o777);
    const { code, lines } = await start({ PORT: String(port), DATA_DIR });
    holder.close();
    rmSync(DATA_DIR, { recursive: true });
    expect([code, lines]).toEqual([
      1,
      [
        `The address 127.0.0.1:${port} is already in use. Set PORT to another port, or stop the process using it.`,
      ],
    ]);
  });

  test.each(["locked", "locked/deeper"])("the folder %s, which this user cannot write", async (name) => {
    const locked = join(checkout, "locked");
    if (!existsSync(locked)) mkdirSync(locked);
    chmodSync(locked, 0o555);
    const folder = join(checkout, name);
    const { code, lines } = await start({ PORT: "0", DATA_DIR: folder });
    chmodSync(locked, 0o755);
    const what = name === "locked" ? "cannot be written" : `cannot be created in ${locked}`;
    expect([code, lines]).toEqual([
      78,
      [
        `DATA_DIR ${folder} ${what} by the user ${USER}.`,
        "Set DATA_DIR to a folder of that user. An administrator creates one at this place with:",
        `  sudo install -d -o ${USER} -m 700 '${folder}'`,
      ],
    ]);
  });

  test("a folder of other programs, whose owner it never advises to change", async () => {
    const shared = join(checkout, "shared");
    mkdirSync(join(shared, "apt"), { recursive: true });
    chmodSync(shared, 0o555);
    const { code, lines } = await start({ PORT: "0", DATA_DIR: shared });
    chmodSync(shared, 0o755);
    expect([code, lines]).toEqual([
      78,
      [
        `DATA_DIR ${shared} cannot be written by the user ${USER}, and the folder is not Parley's own.`,
        "Set DATA_DIR to a folder of that user. An administrator creates one with:",
        `  sudo install -d -o ${USER} -m 700 '${join(shared, "parley")}'`,
      ],
    ]);
  });

  test("a database that it cannot use", async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "parley-data-"));
    const old = await stubPostgres({ row: { version: "140022", missing: "" } });
    const startOn = (DATABASE_URL: string) => start({ PORT: "0", DATA_DIR, DATABASE_URL }, false);
    const onOld = await startOn(old.url);
    old.stop();
    expect(onOld).toEqual({ code: 78, lines: [tooOld(140_022)] });
    const { code, lines } = await startOn("postgres://parley:a-secret@127.0.0.1:1/parley");
    rmSync(DATA_DIR, { recursive: true });
    expect([code, lines]).toEqual([
      1,
      [expect.stringMatching(/parley@127\.0\.0\.1:1\/parley \(DATABASE_URL\): .*Check that PostgreSQL runs/)],
    ]);
  });

  test("a clone in which this user cannot create the build", async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "parley-data-"));
    chmodSync(DATA_DIR, 0o777);
    chmodSync(checkout, 0o555);
    const { code, lines } = await start({ PORT: "0", DATA_DIR });
    chmodSync(checkout, 0o755);
    rmSync(DATA_DIR, { recursive: true });
    expect([code, lines]).toEqual([
      78,
      [
        `Parley cannot be built: the user ${USER} may not create the folder ${join(checkout, "dist")}.`,
        "To create it for that user, run as an administrator:",
        `  sudo install -d -o ${USER} '${join(checkout, "dist")}'`,
      ],
    ]);
  });

  test("a file in the place of the folder", async () => {
    const path = join(checkout, "file");
    writeFileSync(path, "");
    const { code, lines } = await start({ PORT: "0", DATA_DIR: join(path, "data") });
    expect(code).toBe(78);
    expect(lines).toEqual([
      `DATA_DIR ${path}/data cannot be used: ${path} is a file. Set DATA_DIR to a folder.`,
    ]);
  });
});

test("the address and the folder that are checked are the defaults of the settings", () => {
  const program = readFileSync(join(__dirname, "../../src/cli/preflight.mjs"), "utf8");
  const defaults = [...program.matchAll(/setting\("(\w+)"\) \?\? ("[^"]+"|\d+)/g)].map(
    ([, name, value]) => [name, JSON.parse(value!)] as const,
  );
  const { PORT, DATA_DIR, HOST } = readConfig({});
  expect(Object.fromEntries(defaults)).toEqual({ PORT, DATA_DIR: relative(process.cwd(), DATA_DIR) });
  const external = { DATABASE_URL: "postgres://a/b", ENCRYPTION_KEYS: "k".repeat(32) };
  const hosts = /\? "([^"]+)" : "([^"]+)"\);\n/.exec(program)!.slice(1);
  expect(hosts).toEqual([HOST, readConfig(external).HOST]);
});

/** The names of shorter settings resemble other variables by chance. */
const LONG_SETTINGS = Object.keys(SETTINGS).filter((name) => name.length >= 7);

describe("a misspelled setting", () => {
  test.each([
    ["DATABSE_URL", "DATABASE_URL"],
    ["DATABASE_URI", "DATABASE_URL"],
    ["LOGLEVEL", "LOG_LEVEL"],
    ["PUBLIC_BASEURL", "PUBLIC_BASE_URL"],
    ["ENCRYPTION_KEY", "ENCRYPTION_KEYS"],
    ["database_url", "DATABASE_URL"],
  ])("%s is reported with the name %s", (name, meant) => {
    expect(misspelledSettings({ [name]: "x" })).toEqual([
      `${name} is not a setting and has no effect. Did you mean ${meant}?`,
    ]);
  });

  test("with two neighboring characters swapped is reported with the right name, for every setting", () => {
    const swaps = LONG_SETTINGS.flatMap((name) => swapsOf(name).map((swapped) => [swapped, name] as const));
    expect(swaps.length).toBeGreaterThan(500);
    const wrong = swaps.filter(
      ([swapped, name]) => !misspelledSettings({ [swapped]: "x" })[0]?.endsWith(`Did you mean ${name}?`),
    );
    expect(wrong).toEqual([]);
  });

  test.each([
    "HOME",
    "PATH",
    "HOSTNAME",
    "HOSTTYPE",
    "LANGUAGE",
    "NODE_ENV",
    "OPENAI_API_KEY_2",
    "PWD",
    "LOGNAME",
  ])("%s is none", (name) => expect(misspelledSettings({ [name]: "x" })).toEqual([]));

  test("is not reported beside the right one", () => {
    expect(misspelledSettings({ ENCRYPTION_KEY: "of another program", ENCRYPTION_KEYS: "x" })).toEqual([]);
  });
});
