import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { migrate } from "../../src/platform/database/upgrades/migrate";
import { exitCodeOf } from "../../src/platform/mistake";
import { statement } from "../support/database";
import {
  afterTests,
  emptyDatabase,
  emptyFolder,
  preparedDatabase,
  runToEnd,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  type Env,
  type ProcessResult,
} from "../support/server";
import { CERTIFICATE, FUTURE_CERTIFICATE, stubPostgres, type StubBehavior } from "../support/stub-postgres";

/** Programs that run at once. */
const AT_ONCE = 3;
const SECRET = "a-secret";

/** Databases and roles that the cases share. */
interface World {
  readonly owner: string;
  readonly empty: string;
  /** A database to which nobody may connect. */
  readonly closed: string;
  /** The URL of the owner with another password. */
  readonly wrong: string;
  /** A role without rights, one that has no connections left, one that has one, and one with all rights that only reads. */
  readonly plain: string;
  readonly full: string;
  readonly single: string;
  readonly reader: string;
  /** File with the certificate of the stub. */
  readonly ca: string;
  /** The same of its certificate that is not valid yet, and a key that belongs to neither. */
  readonly future: string;
  readonly otherKey: string;
}

interface Case {
  readonly name: string;
  /** The program to run; without one, the database is opened and migrated in this process, as every program does. */
  readonly program?: string;
  readonly options?: (world: World) => readonly string[];
  readonly env: (world: World) => Env | Promise<Env>;
  /** The only line of the error. */
  readonly says: RegExp;
}

const results = new Map<string, ProcessResult>();

async function runAll(cases: readonly Case[], world: World): Promise<void> {
  const waiting = [...cases];
  const runNext = async (): Promise<void> => {
    const one = waiting.shift();
    if (!one) return;
    const env = { ...SETTINGS, ...(await one.env(world)) };
    const isHere = one.program === undefined;
    results.set(
      one.name,
      isHere
        ? await open(env.DATABASE_URL!)
        : await runToEnd(one.program, env, ...(one.options?.(world) ?? [])),
    );
    return runNext();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runNext));
}

/** The result of a program that opens the database. */
const open = (url: string): Promise<ProcessResult> =>
  migrate(url, () => Promise.resolve()).then(
    () => ({ code: 0, stdout: "", stderr: "" }),
    (error: unknown) => ({ code: exitCodeOf(error), stdout: "", stderr: (error as Error).message }),
  );

async function stub(behavior: StubBehavior, parameters = ""): Promise<string> {
  const server = await stubPostgres(behavior);
  afterTests(server.stop);
  return `${server.url}${parameters}`;
}

/** PostgreSQL's answer to a client that it refuses. */
function refusal(code: string, message: string): string {
  const fields = `SFATAL\0C${code}\0M${message}\0\0`;
  return `E\0\0\0${String.fromCharCode(fields.length + 4)}${fields}`;
}

const changed = (url: string, change: (url: URL) => void): string => {
  const other = new URL(url);
  change(other);
  return other.href;
};

/** A role with the password SECRET, removed after all tests. */
async function newRole(attributes = ""): Promise<string> {
  const role = `role_${Math.random().toString(36).slice(2)}`;
  await statement(process.env.TEST_POSTGRES!, `create role ${role} login password '${SECRET}' ${attributes}`);
  afterTests(() => statement(process.env.TEST_POSTGRES!, `drop role ${role}`));
  return role;
}
const as = (url: string, role: string): string =>
  changed(url, (one) => Object.assign(one, { username: role, password: SECRET }));

const WRONG_PASSWORD =
  /^Cannot connect to the database postgres:\/\/parley@127\.0\.0\.1:\d+\/\w+ \(DATABASE_URL\): password authentication failed for user "parley"\. Check the user and the password\.$/;

async function makeWorld(): Promise<World> {
  const owner = await preparedDatabase(afterTests);
  const empty = await emptyDatabase(afterTests);
  const closed = await emptyDatabase(afterTests);
  await statement(closed, `revoke connect on database ${new URL(closed).pathname.slice(1)} from public`);
  const plain = await newRole();
  const full = await newRole("connection limit 0");
  const single = await newRole("connection limit 1");
  const reader = await newRole("superuser");
  await statement(process.env.TEST_POSTGRES!, `alter role ${reader} set default_transaction_read_only = on`);
  const folder = emptyFolder(afterTests);
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const ca = file("ca.crt", CERTIFICATE);
  const future = file("future.crt", FUTURE_CERTIFICATE);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const otherKey = file("other.key", privateKey.export({ type: "pkcs8", format: "pem" }));
  const wrong = changed(owner, (url) => (url.password = SECRET));
  return { owner, empty, closed, wrong, plain, full, single, reader, ca, future, otherKey };
}

type UrlOf = (world: World) => string | Promise<string>;
const on = (name: string, url: UrlOf, says: RegExp): Case => ({
  name,
  env: async (world) => ({ DATABASE_URL: await url(world) }),
  says,
});
/** The answer of a suitable PostgreSQL to the check. */
const SUITABLE = { version: "150000", missing: "" };

const STARTUPS: readonly Case[] = [
  { ...on("a wrong password", ({ wrong }) => wrong, WRONG_PASSWORD), program: "main" },
  on(
    "a database that does not exist",
    ({ owner }) => changed(owner, (url) => (url.pathname = "/nowhere")),
    /: database "nowhere" does not exist\. Check the name, or create the database with createdb\.$/,
  ),
  on(
    "a role that may not connect",
    ({ closed, plain }) => as(closed, plain),
    /permission denied for database .*Grant the role CONNECT/,
  ),
  on(
    "a role with too many connections",
    ({ owner, full }) => as(owner, full),
    /too many connections for role .*raise max_connections/,
  ),
  on(
    "a role with a single connection",
    ({ empty, single }) => as(empty, single),
    /^Cannot connect to the database \S+: too many connections for role .*lower DATABASE_POOL\.$/,
  ),
  on(
    "a role that may create nothing",
    ({ empty, plain }) => as(empty, plain),
    /^The role "role_\w+" may not migrate the database \(permission denied for .*\)\. Set DATABASE_OWNER_URL/,
  ),
  on(
    "a read-only database",
    ({ empty, reader }) => as(empty, reader),
    /^The database is read-only .*Set DATABASE_URL to the primary/,
  ),
  ...["127.0.0.1", "localhost"].map((host) =>
    on(
      `no server at ${host}`,
      () => `postgres://parley:${SECRET}@${host}:1/parley`,
      /@\w[\w.]+:1\/parley: .*ECONNREFUSED.*Check that PostgreSQL runs and listens at this address\.$/,
    ),
  ),
  on(
    "an unknown host",
    () => "postgres://parley@db.invalid/parley",
    /ENOTFOUND db\.invalid\. Check the host name\.$|EAI_AGAIN/,
  ),
  on("a host that does not answer", () => stub({ bytes: "" }), /: timeout expired\. .*no firewall/),
  on(
    "a program that is not PostgreSQL",
    () => stub({ bytes: "HTTP/1.1 400 Bad Request\r\n\r\n" }),
    /Check that PostgreSQL, and no other program, listens at this address\.$/,
  ),
  on(
    "TLS that PostgreSQL does not offer",
    () => stub({ row: SUITABLE }, "?sslmode=verify-full"),
    /does not support SSL connections\. Turn ssl on in postgresql\.conf, or use sslmode=disable/,
  ),
  on(
    "a certificate of an unknown authority",
    () => stub({ tls: CERTIFICATE }, "?sslmode=verify-full"),
    /self-signed certificate\. .*sslrootcert=\/path/,
  ),
  on(
    "a certificate of another host",
    ({ ca }) => stub({ tls: CERTIFICATE }, `?sslmode=verify-full&sslrootcert=${ca}`),
    /does not match certificate's altnames.*Use a host name that the certificate .*It contains: DNS:db\.example\.com\.$/,
  ),
  on(
    "a certificate that is not valid yet",
    ({ future }) => stub({ tls: FUTURE_CERTIFICATE }, `?sslmode=verify-full&sslrootcert=${future}`),
    /certificate is not yet valid\. Check the clock of this machine/,
  ),
  on(
    "a key of another certificate",
    ({ ca, otherKey }) =>
      stub({ tls: CERTIFICATE }, `?sslmode=verify-full&sslrootcert=${ca}&sslcert=${ca}&sslkey=${otherKey}`),
    /Name a certificate and its own key in the URL, as sslcert and sslkey\.$/,
  ),
  on(
    "a role that needs a certificate of its own",
    () => stub({ bytes: refusal("28000", "connection requires a valid client certificate") }),
    /Name a certificate of the role, and its key, in the URL: sslcert=/,
  ),
  on(
    "a certificate file that is missing",
    ({ owner }) => `${owner}?sslmode=verify-full&sslrootcert=/nowhere/ca.crt`,
    /no such file .*\/nowhere\/ca\.crt.*Check the path/,
  ),
  on(
    "PostgreSQL 14",
    () => stub({ row: { ...SUITABLE, version: "140022" } }),
    /^The database \(DATABASE_URL\) is PostgreSQL 14\. Version 15 or later is required\.$/,
  ),
  on(
    "a PostgreSQL without an extension",
    () => stub({ row: { ...SUITABLE, missing: "pg_trgm and btree_gin" } }),
    /^This PostgreSQL \(DATABASE_URL\) lacks pg_trgm and btree_gin\. Install its contrib modules/,
  ),
  {
    name: "a wrong password of the owner",
    program: "main",
    env: ({ owner, wrong }) => ({ DATABASE_URL: owner, DATABASE_OWNER_URL: wrong }),
    says: /\(DATABASE_OWNER_URL\): password authentication failed/,
  },
  {
    name: "a wrong password of the serving role",
    program: "main",
    env: ({ owner, wrong }) => ({ DATABASE_URL: wrong, DATABASE_OWNER_URL: owner }),
    says: /\(DATABASE_URL\): password authentication failed/,
  },
  {
    name: "a wrong password of the role for jobs",
    program: "main",
    env: ({ owner, wrong }) => ({ DATABASE_URL: owner, DATABASE_JOBS_URL: wrong }),
    says: /\(DATABASE_JOBS_URL\): password authentication failed/,
  },
  ...(["DATABASE_DIRECT_URL", "DATABASE_OWNER_URL", "DATABASE_JOBS_URL"] as const).map((setting): Case => ({
    name: `another database in ${setting}`,
    program: "main",
    env: ({ owner, empty }) => ({ DATABASE_URL: owner, [setting]: empty }),
    says: new RegExp(
      `^${setting} names the database "\\w+", but DATABASE_URL names "\\w+"\\. Name the same database in both\\.$`,
    ),
  })),
  {
    name: "another database of the owner, for a migration ahead",
    program: "cli/migrate",
    env: ({ owner, empty }) => ({ DATABASE_URL: owner, DATABASE_OWNER_URL: empty }),
    says: /^DATABASE_OWNER_URL names the database "\w+", but DATABASE_URL names "\w+"\./,
  },
  {
    name: "a serving role without rights",
    program: "main",
    env: ({ owner, plain }) => ({ DATABASE_URL: as(owner, plain), DATABASE_OWNER_URL: owner }),
    says: /^The role "role_\w+" of DATABASE_URL lacks rights on \w+\. `npm run database:roles`/,
  },
];

/** Cases of what may end by itself, so that a supervisor should try again. */
const PASSING =
  /connections|single connection|read-only|no server|unknown host|does not answer|is not PostgreSQL|not valid yet/;

/** Commands that open the database in their own ways, and one for the function `command`, with options to get there. */
const COMMANDS: readonly (readonly [program: string, ...options: string[]])[] = [
  ["backup", "backup"],
  ["connect", "--url", "http://127.0.0.1:1/v1", "--model", "m"],
  ["database-roles"],
  ["keys-rotate"],
];

const COMMAND_CASES: readonly Case[] = [
  ...COMMANDS.map(([name, ...options]): Case => ({
    name,
    program: `cli/${name}`,
    options: () => options,
    env: ({ wrong }) => ({ DATABASE_URL: wrong }),
    says: WRONG_PASSWORD,
  })),
  {
    name: "move, about the database that it moves to",
    program: "cli/move",
    options: ({ wrong }) => ["--to", changed(wrong, (url) => (url.pathname = "/other"))],
    env: ({ owner }) => ({ DATABASE_URL: owner }),
    says: /^Cannot connect to the database postgres:\/\/parley@[\w.:]+\/other: password authentication failed .*Check the user and the password\.$/,
  },
];

let world: World;
beforeAll(async () => {
  world = await makeWorld();
  await runAll([...STARTUPS, ...COMMAND_CASES], world);
}, 4 * SERVER_TIMEOUT_MS);

/** Expects the error of a case as the only line, the exit code that says whether to try again, and nothing printed. */
function expectMessage({ name, says }: Case): void {
  const { code, stdout, stderr } = results.get(name)!;
  const lines = stderr.trimEnd().split("\n");
  expect({ code, stdout, lines: lines.filter((line) => !line.startsWith("Database: ")) }).toEqual({
    ...{ code: PASSING.test(name) ? 1 : 78, stdout: "" },
    lines: [expect.stringMatching(says)],
  });
  expect(stderr).not.toContain(SECRET);
}

const named = (cases: readonly Case[]) => cases.map((one) => [one.name, one] as const);

describe("startup reports in one line, with the remedy and without the password:", () => {
  test.each(named(STARTUPS))("%s", (_name, one) => expectMessage(one));
});

test("a command of the owner works while the role that serves requests cannot connect", async () => {
  const env = { ...SETTINGS, DATABASE_URL: world.wrong, DATABASE_OWNER_URL: world.owner };
  const { code, stdout, stderr } = await runToEnd("cli/org-create", env, "--name", "Another");
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toMatchObject({ secretKey: expect.any(String) });
});

describe("a command reports a wrong password in one line:", () => {
  test.each(named(COMMAND_CASES))("%s", (_name, one) => expectMessage(one));

  test("as every command opens the database in one of these ways", () => {
    const folder = join(__dirname, "../../src/cli");
    const opens = (name: string) => readFileSync(join(folder, name), "utf8").includes("new pg.");
    // rows opens an embedded database that it has just created.
    expect(readdirSync(folder).filter((name) => /\.ts$/.test(name) && opens(name))).toEqual(["rows.ts"]);
  });
});
