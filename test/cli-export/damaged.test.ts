import { cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { checkFolder } from "../../src/cli/folder/check-folder";
import { FolderWriter } from "../../src/cli/folder/folder-writer";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { importerOf } from "../support/importers";
import { afterTests, emptyFolder, runToEnd, SERVER_TIMEOUT_MS } from "../support/server";
import { filesIn, fillOrganization, linesIn, rewrite, type Filled } from "./organization";

const running = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });

/** Matches the progress that a pipe gets: a sentence for every few seconds. */
const PROGRESS = /^(In progress: .+: \d+.*\.\n)*$/;

let made: Filled;
let api: Api;
let whole: string;
beforeAll(async () => {
  const { api: source, secretKey } = await running.otherOrganization();
  api = source;
  made = await fillOrganization(source, 6);
  whole = join(emptyFolder(afterTests), "export");
  const env = { PARLEY_URL: running.url, PARLEY_KEY: secretKey };
  const { code, stderr } = await runToEnd("cli/export", env, whole);
  expect([code, stderr]).toEqual([0, expect.stringMatching(PROGRESS)]);
}, 2 * SERVER_TIMEOUT_MS);

function copyOfExport(): string {
  const folder = join(emptyFolder(), "copy");
  cpSync(whole, folder, { recursive: true });
  return folder;
}

/** Gives a file another entry in the manifest, or none. */
function changeEntry(folder: string, name: string, entry: unknown): void {
  const path = join(folder, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as { files: Record<string, unknown> };
  manifest.files[name] = entry;
  writeFileSync(path, JSON.stringify(manifest));
}

describe("an import refuses, before it stores anything,", () => {
  test.each<[string, (folder: string) => void, string]>([
    [
      "a line that is cut off",
      (of) => truncateSync(join(of, "logs.ndjson"), 900),
      "logs.ndjson:1: The line is cut off",
    ],
    [
      "a changed line",
      (of) => change(of, "logs.ndjson", "Question 0", "Question 9"),
      "logs.ndjson:1: The content differs",
    ],
    [
      "a line that is no JSON",
      (of) => change(of, "projects.ndjson", "{", "<"),
      "projects.ndjson:1: The line is not JSON",
    ],
    ["a missing file", (of) => rmSync(join(of, "keys.ndjson")), "keys.ndjson: The file is missing."],
    ["a missing content", (of) => rmSync(join(of, "files", made.fileId)), "files.ndjson:1: "],
    ["a changed content", (of) => writeFileSync(join(of, "files", made.fileId), "x"), "files.ndjson:1: "],
    [
      "a content outside the folder",
      (of) => change(of, "files.ndjson", `files/${made.fileId}`, "../../etc/passwd", true),
      "files.ndjson:1: content must name a file in files/.",
    ],
    [
      "another version of the format",
      (of) => change(of, "manifest.json", '"formatVersion": 1', '"formatVersion": 2'),
      "manifest.json:1: The folder has version 2 of the format, and this Parley reads version 1.",
    ],
    [
      "another format",
      (of) => change(of, "manifest.json", "parley-export", "other"),
      "manifest.json:1: The file is not a manifest",
    ],
    ...Object.entries({
      "has no digest": ["logs.ndjson", null],
      "leads out of the folder": ["../logs.ndjson", { sha256: "" }],
      "is an absolute path": ["/etc/passwd", { sha256: "" }],
    }).map(
      ([what, [name, entry]]) =>
        [
          `an entry of the manifest that ${what}`,
          (of: string) => changeEntry(of, name as string, entry),
          `manifest.json:1: The entry "${name as string}" must be the name of a file in the folder`,
        ] as [string, (folder: string) => void, string],
    ),
    ...["report.json", "logs.ndjson"].map(
      (name) =>
        [
          `a manifest without an entry for ${name}`,
          (of: string) => changeEntry(of, name, undefined),
          `manifest.json:1: The manifest has no entry for ${name}.`,
        ] as [string, (folder: string) => void, string],
    ),
    [
      "a folder in place of a file",
      (of) => {
        rmSync(join(of, "keys.ndjson"));
        mkdirSync(join(of, "keys.ndjson"));
      },
      "keys.ndjson: The file is missing.",
    ],
    [
      "an unfinished export",
      (of) => writeFileSync(join(of, "export-state.json"), "{}"),
      "manifest.json:1: The export is not complete.",
    ],
    [
      "a folder without a manifest",
      (of) => rmSync(join(of, "manifest.json")),
      "manifest.json: The file is missing: this folder is not an export.",
    ],
  ])("%s", async (_, damage, message) => {
    const folder = copyOfExport();
    damage(folder);
    const { api: empty } = await running.otherOrganization();
    const key = (await importerOf(empty)).headers["X-API-Key"]!;
    const { code, stderr, stdout } = await runToEnd(
      "cli/import",
      { PARLEY_URL: running.url, PARLEY_KEY: key },
      "parley",
      folder,
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${folder}/${message}`)]);
    expect(stdout).toBe("");
    const found = await empty.gql("{ projects { id } assistants { data { id } } files { data { id } } }");
    expect(found).toEqual({ projects: [], assistants: { data: [] }, files: { data: [] } });
  });

  test("any other byte in any file", async () => {
    const folder = copyOfExport();
    const names = Object.keys(filesIn(folder)).filter((name) => !name.startsWith("manifest"));
    const nonEmpty = names.filter((name) => filesIn(folder)[name] !== "");
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...nonEmpty),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (name, at, by) => {
          const path = join(folder, name);
          const content = Buffer.from(filesIn(folder)[name]!, "latin1");
          const place = at % content.length;
          const changed = Buffer.from(content);
          changed[place] = (changed[place]! + by) % 256;
          writeFileSync(path, changed);
          await expect(checkFolder(folder)).rejects.toThrow(/:\d+: |is missing/);
          writeFileSync(path, content);
        },
      ),
      { numRuns: 40 },
    );
    await checkFolder(folder);
  });
});

/** Replaces a text in a file. @param isSigned whether the manifest gets the new digest */
function change(folder: string, name: string, before: string, after: string, isSigned = false): void {
  const content = filesIn(folder)[name]!;
  const changed = content.replace(before, after);
  expect(changed).not.toBe(content);
  if (isSigned) rewrite(folder, name, changed);
  else writeFileSync(join(folder, name), changed, "latin1");
}

test("an unknown field of a record is ignored, and a second run that changes nothing says so", async () => {
  const folder = copyOfExport();
  const logs = linesIn(folder, "logs.ndjson").map((log) =>
    JSON.stringify({ ...log, answeredBy: { version: 3 } }),
  );
  rewrite(folder, "logs.ndjson", `${logs.join("\n")}\n`);
  const { api: empty } = await running.otherOrganization();
  const key = (await importerOf(empty)).headers["X-API-Key"]!;
  const env = { PARLEY_URL: running.url, PARLEY_KEY: key };
  const { stdout } = await runToEnd("cli/import", env, "parley", folder);
  expect(stdout).toContain(`logs: ${made.logs - 1} imported`);
  const again = await runToEnd("cli/import", env, "parley", folder);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("Some records were not imported") });
  expect(again.stdout).toContain("Nothing has changed: what is listed below was refused.");
  expect(again.stdout).toContain("Another key of this server has this value already.");
});

test("a refused assistant is listed with each of its logs and versions, and its draft", async () => {
  const folder = copyOfExport();
  const { api: other } = await running.otherOrganization();
  const env = { PARLEY_URL: running.url, PARLEY_KEY: (await importerOf(other)).headers["X-API-Key"]! };
  const taken = linesIn(folder, "assistants.ndjson").filter(({ key }) => key !== null);
  for (const { key, name } of taken)
    await other.gql("mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { id } }", {
      input: { key, name },
    });
  const report = join(emptyFolder(), "report.json");
  expect((await runToEnd("cli/import", env, "parley", folder, "--report", report)).code).toBe(2);
  const { notTakenOver } = JSON.parse(readFileSync(report, "utf8")) as {
    notTakenOver: { reason: string; ids: string[] }[];
  };
  const listed = (what: string) =>
    notTakenOver
      .find(({ reason }) => reason === `The assistant of this ${what} was refused.`)
      ?.ids.toSorted();
  const refused = new Set(taken.map(({ id }) => id));
  const ofRefused = (file: string) =>
    linesIn(folder, file).filter(({ assistantId }) => refused.has(assistantId));
  const ended = ofRefused("logs.ndjson").map(({ id }) => id as string);
  expect(listed("log")).toEqual(ended.toSorted());
  const versions = ofRefused("versions.ndjson").map(
    (one) => `${String(one.assistantId)}, version ${String(one.number)}`,
  );
  expect(versions.length).toBeGreaterThan(taken.length);
  expect(listed("version")).toEqual(versions.toSorted());
  const drafts = taken.filter(({ draft }) => draft !== null).map(({ id }) => id as string);
  expect(listed("draft")).toEqual(drafts.length > 0 ? drafts.toSorted() : undefined);
});

describe("facts about a person", () => {
  type Facts = { assistantId: string; signed: boolean }[];
  /** Imports the folder with other facts about a person. @returns what the command prints, and the facts that are stored */
  async function importing(change: (facts: Facts) => object[]) {
    const folder = copyOfExport();
    const people = linesIn(folder, "end-users.ndjson").map(({ facts, ...person }) => ({
      ...person,
      facts: person.uniqueId === "person-0" ? change(facts as Facts) : facts,
    }));
    rewrite(folder, "end-users.ndjson", people.map((person) => `${JSON.stringify(person)}\n`).join(""));
    const { api: empty } = await running.otherOrganization();
    const importKey = (await importerOf(empty)).headers["X-API-Key"]!;
    const { stdout } = await runToEnd(
      "cli/import",
      { PARLEY_URL: running.url, PARLEY_KEY: importKey },
      "parley",
      folder,
    );
    const { endUser } = await empty.gql('{ endUser(uniqueId: "person-0") { facts { assistantId signed } } }');
    return { stdout, facts: endUser.facts as Facts };
  }

  test("are listed if the folder does not show whether their id was signed, and the others imported", async () => {
    const { stdout, facts } = await importing((all) =>
      all.map((one) => ({ ...one, signed: one.signed || null })),
    );
    expect(stdout).toContain(
      "Facts about this person were left out, because the folder does not show whether they come from conversations with a signed id. [person-0]",
    );
    expect(facts.map(({ signed }) => signed)).toEqual([true, true, true]);
  });

  test("are listed if their assistant is not here, and the others imported", async () => {
    const { stdout, facts } = await importing((all) =>
      all.map((one, at) => (at === 0 ? { ...one, assistantId: "gone" } : one)),
    );
    expect(stdout).toContain(
      "Facts about this person were left out, because the assistant that remembers them was deleted. [person-0]",
    );
    expect(facts).toHaveLength(5);
  });
});

test("a key that may do nothing but import is not imported: here it would have no limits", async () => {
  const folder = copyOfExport();
  const value = "a-key-only-for-imports";
  const [key] = linesIn(folder, "keys.ndjson").map((one) => ({
    ...one,
    id: "k",
    value,
    permissions: ["import"],
  }));
  rewrite(folder, "keys.ndjson", `${JSON.stringify(key)}\n`);
  const { api: empty } = await running.otherOrganization();
  const importKey = (await importerOf(empty)).headers["X-API-Key"]!;
  const env = { PARLEY_URL: running.url, PARLEY_KEY: importKey };
  const { stdout } = await runToEnd("cli/import", env, "parley", folder);
  expect(stdout).toContain("This key may do nothing but import, which only the command line grants. [k]");
  await empty.as({ "X-API-Key": value }).get("/rest/v1/assistants", 401);
});

describe("an export with a key that", () => {
  const limited = async (limits: object) =>
    (await api.post("/rest/v1/organization/keys", limits, 200)).value as string;
  const exportWith = async (key: string) => {
    const folder = join(emptyFolder(), "export");
    mkdirSync(folder);
    const result = await runToEnd("cli/export", { PARLEY_URL: running.url, PARLEY_KEY: key }, folder);
    return { folder, ...result };
  };

  test("may only read lists what it could not read, and has the rest", async () => {
    const { folder, code, stdout } = await exportWith(await limited({ permissions: ["read"] }));
    expect(code).toBe(2);
    expect(stdout).toContain('No API keys: This key lacks the permission "keys"');
    expect(stdout).toContain('No webhook destinations: This key lacks the permission "webhooks"');
    expect(Object.keys(filesIn(folder))).not.toContain("keys.ndjson");
    expect(linesIn(folder, "logs.ndjson")).toHaveLength(made.logs);
    const { notRead } = JSON.parse(filesIn(folder)["report.json"]!);
    expect(notRead).toHaveLength(2);
    expect(JSON.stringify(notRead) + stdout).not.toContain("--permissions");
    expect(stdout).toContain("a SECRET key without limits does: `npm run --silent key:create` makes one");
    expect(JSON.parse(filesIn(folder)["manifest.json"]!).complete).toBe(false);
  });

  test("is limited to an assistant says so", async () => {
    const [id] = made.assistants;
    const { folder, code, stdout } = await exportWith(await limited({ assistantIds: [id] }));
    expect([code, stdout]).toEqual([2, expect.stringContaining("limited to certain assistants")]);
    expect(linesIn(folder, "assistants.ndjson").map((one) => one.id)).toEqual([id]);
  });

  test("has all permissions by name lists that it does not see all keys", async () => {
    const permissions = ["read", "write", "calls", "keys", "webhooks"];
    const { code, stdout } = await exportWith(await limited({ permissions }));
    expect([code, stdout]).toEqual([2, expect.stringContaining("keys that may do more are missing")]);
  });

  test.each([
    ["is unknown", "parley_sk_unknown", "The server refuses the key"],
    ["is PUBLIC", undefined, "Name a SECRET key without limits"],
  ])("%s is refused", async (_, value, message) => {
    const { publicKey } =
      value === undefined ? await api.gql("{ publicKey { value } }") : { publicKey: { value } };
    const { code, stderr } = await exportWith(publicKey.value);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toContain("`npm run --silent key:create` makes one on the server.");
    expect(stderr).not.toMatch(/stays|again/);
  });

  test.each([
    ["is a file", (file: string) => file, (file: string) => `${file} is a file, not a folder.`],
    [
      "is below a file",
      (file: string) => join(file, "a/b"),
      (file: string) => `${file} is a file, not a folder.`,
    ],
    ["cannot be created", () => "/proc/parley/export", () => "The folder /proc/parley cannot be created"],
  ])("is exported to a folder that %s says so", async (_, folder, message) => {
    const file = join(emptyFolder(), "file");
    writeFileSync(file, "mine");
    const { secretKey } = await running.otherOrganization();
    const env = { PARLEY_URL: running.url, PARLEY_KEY: secretKey };
    const { code, stderr } = await runToEnd("cli/export", env, folder(file));
    expect([code, stderr]).toEqual([1, expect.stringContaining(message(file))]);
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test.each([
    [[], {}, "Name one folder."],
    [["a", "b"], {}, "Name one folder."],
    [["a"], {}, "Name the server with --url or PARLEY_URL"],
    [["a", "--url", "example.com", "--key", "k"], {}, "--url must be a URL"],
    [["a", "--key", "k"], { PARLEY_URL: "example.com" }, "PARLEY_URL must be a URL"],
    [
      ["a", "--wait", "soon"],
      { PARLEY_URL: "http://127.0.0.1:1", PARLEY_KEY: "k" },
      "--wait must be a whole number",
    ],
  ])("is used with wrong arguments explains them: %j", async (args, env, message) => {
    expect(await runToEnd("cli/export", env as Record<string, string>, ...args)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining(message) },
    });
  });
});

describe("an export", () => {
  const begun = (folder: string) => FolderWriter.open(folder, "http://127.0.0.1:4000", "o");

  test("stops if another one writes into its folder, and continues afterwards", () => {
    const folder = join(emptyFolder(), "twice");
    const first = begun(folder);
    first.begin("logs");
    first.append([{ id: "1" }], "1");
    const second = begun(folder);
    second.begin("logs");
    second.append([{ id: "2" }], "2");
    for (const more of [() => first.append([{ id: "2" }], "2"), () => first.finish("logs")])
      expect(more).toThrow(`Another export writes into ${folder}.`);
    second.finish("logs");
    expect(() => first.append([{ id: "2" }], "2")).toThrow("Another export");
    expect(linesIn(folder, "logs.ndjson").map(({ id }) => id)).toEqual(["1", "2"]);
  });

  test("whose state is damaged says so", () => {
    const folder = join(emptyFolder(), "damaged");
    begun(folder);
    writeFileSync(join(folder, "export-state.json"), "");
    expect(() => begun(folder)).toThrow(
      `${join(folder, "export-state.json")} is damaged, so this export cannot continue.`,
    );
  });
});
