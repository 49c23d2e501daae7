import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { emptyFolder, RUN, runAt, SERVER_TIMEOUT_MS, SETTINGS, startServer } from "../support/server";

const isRoot = process.getuid?.() === 0;
/** An unprivileged user: the current one unless the tests run as root. */
const USER = isRoot ? 54_321 : process.getuid!();

/** A user without an account has a number only. */
const USER_NAME = isRoot ? String(USER) : userInfo().username;

/** Starts the program as an ordinary user and waits for its end. */
async function startAsUser(program: string, dataDir: string) {
  const child = spawn(process.execPath, [RUN, program], {
    env: { PATH: process.env.PATH, HOME: "/", ...SETTINGS, DATA_DIR: dataDir },
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
    ...(isRoot && { uid: USER, gid: USER }),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

/** A DATA_DIR in which root has left files that nobody else can read. */
async function leftByRoot(): Promise<{ dataDir: string; files: string[] }> {
  const dataDir = emptyFolder();
  if (!isRoot) {
    symlinkSync("/etc/shadow", join(dataDir, "encryption-keys"));
    return { dataDir, files: ["encryption-keys"] };
  }
  chmodSync(dataDir, 0o777);
  const { ENCRYPTION_KEYS: _, ...env } = SETTINGS;
  const server = await startServer({ ...env, DATA_DIR: dataDir });
  await server.end("SIGTERM");
  return { dataDir, files: ["encryption-keys", "postgres", "postgres.json"] };
}

test.each(["main", "cli/org-create"])(
  "%s run by an ordinary user names the files owned by root and the command that changes their owner",
  async (program) => {
    const { dataDir, files } = await leftByRoot();
    const { code, output } = await startAsUser(program, dataDir);
    expect(code).toBe(78);
    const lines = output.trimEnd().split("\n");
    expect(lines[0]).toBe("These files belong to another user, probably because Parley was started as root:");
    for (const file of files) expect(output).toContain(`  ${join(dataDir, file)} (owner: `);
    expect(lines.at(-1)).toBe(`  sudo chown -R ${USER_NAME} '${dataDir}'`);
  },
  2 * SERVER_TIMEOUT_MS,
);

test.each(["/var/lib", "/var/lib/of-nobody", "/usr"])(
  "with DATA_DIR %s, an ordinary user is told how to get a folder of their own, not to take that of the system",
  async (dataDir) => {
    const { code, output } = await startAsUser("cli/org-create", dataDir);
    expect(code).toBe(78);
    expect(output).not.toContain("chown");
    const own = dataDir.endsWith("nobody") ? dataDir : join(dataDir, "parley");
    expect(output.trimEnd().split("\n").at(-1)).toBe(`  sudo install -d -o ${USER_NAME} -m 700 '${own}'`);
  },
);

test("a folder that the kernel refuses, as below /proc, ends the start with an error", async () => {
  const { code, output } = await startAsUser("main", "/proc/parley");
  expect(code).toBe(78);
  expect(output).toContain("DATA_DIR /proc/parley cannot be created in /proc");
});

if (isRoot)
  test("a user without an account is told what the embedded database needs", async () => {
    const dataDir = emptyFolder();
    chownSync(dataDir, USER, USER);
    const { code, output } = await startAsUser("main", dataDir);
    expect(code).toBe(1);
    expect(output).toMatch(
      /user ID \d+: user does not exist\nThe embedded PostgreSQL needs a user with an account .* or set DATABASE_URL to a PostgreSQL of your own\.\n$/,
    );
  });

test(
  "a key file that its own user may not read is named, with the command that helps",
  async () => {
    const { ENCRYPTION_KEYS: _, ...settings } = SETTINGS;
    const dataDir = emptyFolder();
    const file = join(dataDir, "encryption-keys");
    writeFileSync(file, "keys of this installation", { mode: 0 });
    const nobody = isRoot ? { uid: 65_534, gid: 65_534 } : {}; // initdb needs a user with an account
    if (isRoot) for (const path of [dataDir, file]) chownSync(path, nobody.uid!, nobody.gid!);
    const env = { ...settings, DATA_DIR: dataDir, HOME: "/" };
    const { code, stderr } = await runAt({ cwd: "/", ...nobody }, "main", env);
    expect(code).toBe(78);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(
      /^The file \S+encryption-keys cannot be read by the user \S+ \(EACCES\)\. Let this user read .*: chmod 600 '\S+'$/,
    );
  },
  2 * SERVER_TIMEOUT_MS,
);
