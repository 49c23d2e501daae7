import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { withoutJunk } from "../../src/platform/settings/load-settings";
import { stubModel, type Reply } from "../support/stub-model";
import {
  afterTest,
  emptyFolder,
  preparedDatabase,
  runAt,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  type Env,
} from "../support/server";

const LONG = 3 * SERVER_TIMEOUT_MS;
const isRoot = process.getuid?.() === 0;
/** An ordinary user, as whom only root can run a program. */
const USER = { uid: 54_321, gid: 54_321 };
const asRoot = isRoot ? test : test.skip;
// The summary of the run says why the tests of other users are skipped.
if (!isRoot)
  test.todo(
    "npm run connect for other users: run the tests as root, who alone can start programs as another user",
  );

async function installation(): Promise<Env> {
  return { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
}

async function modelWith(...replies: Reply[]) {
  const model = await stubModel(...replies);
  afterTest(model.stop);
  return model;
}

/** A folder that everybody can enter. @param owner the user to whom it belongs, if not root */
function openFolder(owner?: typeof USER): string {
  const folder = emptyFolder();
  chmodSync(folder, 0o755);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  return folder;
}

describe("npm run connect with a private address", () => {
  test(
    "prints the lines to change instead of writing .env if the environment has other values",
    async () => {
      const model = await modelWith({ text: ["Hello."] }, { text: ["Hello."] });
      const cwd = openFolder();
      const env = { ...(await installation()), MODEL_NAME: "old", MODEL_PROVIDER: "GROQ" };
      const options = ["--url", model.url, "--model", "llama3.2", "--key", "sk-private"];
      const { code, stdout, stderr } = await runAt({ cwd }, "cli/connect", env, ...options);
      expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining("sk-private") });
      expect(stdout).toContain("NOT stored in .env: MODEL_NAME, MODEL_PROVIDER in the environment");
      expect(stdout).not.toMatch(/^Stored/m);
      for (const line of ["MODEL_NAME=llama3.2", `MODEL_BASE_URL=${model.url}`, "MODEL_PROVIDER (remove it)"])
        expect(stdout.split("\n")).toContain(`  ${line}`);
      expect(stdout).not.toContain("sk-private");
      expect(existsSync(join(cwd, ".env"))).toBe(false);
    },
    LONG,
  );

  test(
    "replaces values that .env itself has set",
    async () => {
      const model = await modelWith({ text: ["Hello."] });
      const cwd = openFolder();
      writeFileSync(join(cwd, ".env"), "MODEL_NAME=old\nMODEL_PROVIDER=GROQ\n");
      const options = ["--url", model.url, "--model", "llama3.2"];
      const { stdout } = await runAt({ cwd }, "cli/connect", await installation(), ...options);
      expect(stdout).toContain("Stored in .env");
      expect(readFileSync(join(cwd, ".env"), "utf8")).toBe(
        `MODEL_NAME=llama3.2\nMODEL_BASE_URL=${model.url}\n`,
      );
    },
    LONG,
  );

  asRoot(
    "keeps the owner of .env, or gives a new one to the owner of the folder, and says so if that is root and the server is not",
    async () => {
      const model = await modelWith(...Array.from({ length: 4 }, () => ({ text: ["Hello."] })));
      const env = { ...(await installation()), DATA_DIR: openFolder(USER) };
      const connect = (cwd: string, settings = env) =>
        runAt({ cwd }, "cli/connect", settings, "--url", model.url, "--model", "llama3.2");
      const theirs = openFolder(USER);
      expect((await connect(theirs)).stdout).not.toContain("belongs to root");
      expect(statSync(join(theirs, ".env"))).toMatchObject(USER);
      const ofRoot = { ...env, DATA_DIR: openFolder() }; // the server runs as root
      expect((await connect(openFolder(), ofRoot)).stdout).not.toContain("belongs to root");
      const ours = openFolder();
      expect((await connect(ours)).stdout).toContain(`chown USER '${join(ours, ".env")}'`);
      chownSync(join(ours, ".env"), USER.uid, USER.gid);
      await connect(ours);
      expect(statSync(join(ours, ".env"))).toMatchObject(USER);
    },
    LONG,
  );

  asRoot(
    "asks no model if this user cannot write .env, and prints the lines for the environment",
    async () => {
      const model = await modelWith();
      const place = { cwd: openFolder(), ...USER };
      const env = { ...(await installation()), DATA_DIR: openFolder(USER) };
      const options = ["--url", model.url, "--model", "llama3.2"];
      const { code, stderr } = await runAt(place, "cli/connect", env, ...options);
      expect(code).toBe(1);
      expect(stderr).toContain(`${join(place.cwd, ".env")} cannot be written by the user 54321.`);
      expect(stderr).toContain("  MODEL_NAME=llama3.2");
      expect(model.asked).toEqual([]);
    },
    LONG,
  );
});

test(
  "npm run connect says that no key was given if the server refuses the request without one",
  async () => {
    const refusal = { status: 401, error: { message: "Unauthorized", code: "unauthorized" } };
    const model = await modelWith(refusal);
    const options = ["--url", model.url, "--model", "m"];
    const { stderr } = await runAt({}, "cli/connect", await installation(), ...options);
    expect(stderr).toContain("No key was given: use --key KEY.");
  },
  LONG,
);

asRoot.each(["main", "cli/key-create"])(
  "%s names an .env that its user cannot read, with the remedy",
  async (program) => {
    const cwd = openFolder();
    writeFileSync(join(cwd, ".env"), "MODEL_NAME=a-secret\n", { mode: 0o600 });
    const { code, stdout, stderr } = await runAt({ cwd, ...USER }, program, SETTINGS);
    expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
    expect(stderr).toContain(`${join(cwd, ".env")} cannot be read by the user 54321`);
    expect(stderr).toContain(`sudo chown 54321 '${join(cwd, ".env")}'`);
  },
);

asRoot(
  "a server names a DATA_DIR that its user cannot enter before it says that it is ready",
  async () => {
    const closed = emptyFolder();
    chmodSync(closed, 0o700);
    const DATA_DIR = join(closed, "data");
    mkdirSync(DATA_DIR);
    chownSync(DATA_DIR, USER.uid, USER.gid);
    const env = { ...(await installation()), DATA_DIR };
    const { code, stdout, stderr } = await runAt({ cwd: openFolder(), ...USER }, "main", env);
    expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
    expect(stderr).toContain(`DATA_DIR ${DATA_DIR} cannot be entered by the user 54321`);
  },
  LONG,
);

describe("a line without = in .env", () => {
  test("is named by its number and does not swallow the next line", async () => {
    const cwd = openFolder();
    writeFileSync(join(cwd, ".env"), "# mine\nsome secret words\nPORT=none\n");
    const { stderr } = await runAt({ cwd }, "main", {});
    expect(stderr).toContain(`Warning: line 2 of ${join(cwd, ".env")} has no "=" and is ignored.`);
    expect(stderr).toContain("PORT ");
    expect(stderr).not.toContain("secret words");
  });

  test.each([
    ["A=1\n\n# c\nexport B=2", []],
    ["A=1\nwords\nB=2\nmore", [2, 4]],
    ['A="one\ntwo\nthree"\nwords', [4]],
    ['A="not closed\nwords\nB=1', [2]],
    ["A=it's\nwords\nB='x'", [2]],
    ["words\r\nA=1\r\n", [1]],
  ])("is found in %j", (text, expected) => expect(withoutJunk(text).ignored).toEqual(expected));
});
