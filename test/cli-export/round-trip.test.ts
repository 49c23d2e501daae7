import { statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { importerOf } from "../support/importers";
import { afterTests, emptyFolder, runToEnd, SERVER_TIMEOUT_MS } from "../support/server";
import { EXACT_FUNCTION, filesIn, fillOrganization, linesIn, type Filled } from "./organization";

const source = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });
const target = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });

let api: Api;
let made: Filled;
let key: string;
let folder: string;
let copy: { readonly api: Api; readonly importKey: string; readonly organizationId: string };
beforeAll(async () => {
  ({ api, secretKey: key } = await source.otherOrganization());
  made = await fillOrganization(api);
  folder = join(emptyFolder(afterTests), "export");
  const { code, stdout } = await exportTo(folder, source.url, key);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`logs.ndjson: ${made.logs}`)]);
  const empty = await target.otherOrganization();
  const importKey = (await importerOf(empty.api)).headers["X-API-Key"]!;
  copy = { api: empty.api, importKey, organizationId: empty.organizationId };
}, 4 * SERVER_TIMEOUT_MS);

const exportTo = (to: string, url: string, withKey: string) =>
  runToEnd("cli/export", { PARLEY_URL: url, PARLEY_KEY: withKey }, to);
const importInto = (withKey: string, ...more: string[]) =>
  runToEnd("cli/import", { PARLEY_URL: target.url, PARLEY_KEY: withKey }, "parley", folder, ...more);

describe("an export", () => {
  test("has every record, with secrets and contents, in files that only their owner can read", () => {
    const names = Object.keys(filesIn(folder));
    for (const name of [".", ...names])
      expect([name, statSync(join(folder, name)).mode & 0o077]).toEqual([name, 0]);
    const assistants = linesIn(folder, "assistants.ndjson");
    expect(assistants.map(({ id }) => id)).toEqual(made.assistants);
    expect(assistants[0]).toMatchObject({
      ...{ key: "front-desk", theme: { allowedOrigins: ["https://shop.example.com"] } },
      ...{ chat: { functions: [{ secretKey: "function-secret" }] }, files: [{ id: made.fileId }] },
    });
    expect(assistants[1]).toMatchObject({ draft: { basedOn: 6, document: { name: "Drafted" } } });
    expect(linesIn(folder, "webhook-destinations.ndjson")).toMatchObject([
      { name: "CRM", secret: "webhook-secret", projectId: null, enabled: true },
      { name: "Broken", enabled: false },
      { projectId: assistants[0]!.projectId },
    ]);
    expect(assistants[0]).toMatchObject({ missingVariables: "BLANK" });
    expect(linesIn(folder, "deployments.ndjson")).toContainEqual(
      expect.objectContaining({ assistantVersion: 2 }),
    );
    expect(linesIn(folder, "keys.ndjson").map(({ value }) => value)).toContain(key);
    expect(filesIn(folder)[`files/${made.fileId}`]).toBe("Open from 9 to 5.");
    const logs = linesIn(folder, "logs.ndjson");
    expect(logs.filter(({ assistantId }) => assistantId === made.deleted).length).toBeGreaterThan(0);
    expect(logs.find(({ id }) => id === made.live)).toMatchObject({ status: "in-progress" });
    expect(logs.findLast(({ assistantId }) => assistantId === made.assistants[0])).toMatchObject({
      assistantVersion: (assistants[0]!.version as { number: number }).number,
      draft: false,
    });
    const numbers = assistants.map(({ id, version }) => ({
      ...{ assistantId: id, number: (version as { number: number }).number },
    }));
    const ofWorkflow = logs.find(({ workflowId }) => workflowId !== null);
    expect(ofWorkflow!.versions).toEqual(expect.arrayContaining(numbers));
    expect(logs.find(({ id }) => id === "old/42 é")).toMatchObject({
      ...{
        label: "Ms. Lovelace",
        phoneNumber: "+41441234567",
        metadata: { errors: [{ message: "No answer." }] },
      },
      messages: [
        { role: "ASSISTANT", toolCalls: [{ id: "t1" }] },
        { role: "TOOL", toolCallId: "t1" },
      ],
    });
  });

  test("has all versions as GraphQL shows them", async () => {
    const versions = linesIn(folder, "versions.ndjson");
    for (const assistantId of made.assistants) {
      const { assistant } = await api.gql(
        `query ($id: ID!) { assistant(id: $id) { versions(first: 100, orderBy: OLDEST_FIRST) {
          nodes { number note actor createdAt document } } } }`,
        { id: assistantId },
      );
      const own = versions.filter((one) => one.assistantId === assistantId);
      expect(own).toEqual(assistant.versions.nodes.map((one: object) => ({ assistantId, ...one })));
      expect(own.length).toBeGreaterThan(3);
    }
  });

  test("is not made twice into one folder", async () => {
    const { code, stderr } = await exportTo(folder, source.url, key);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("has a complete export. Name another folder"),
    ]);
  });
});

/** Fields whose values belong to one server, by the file in which they stand. */
const OF_SERVER: Readonly<Record<string, readonly string[]>> = {
  organization: ["id", "name", "from"],
  assistants: ["attachedAt", "status", "passages", "headerNames"],
  keys: ["lastUsedAt"],
};

/** Permissions that an import takes over. */
const given = (permissions: unknown) =>
  Array.isArray(permissions) ? permissions.filter((one) => one !== "import") : permissions;

/** The records of an export without what belongs to one server, by file. */
function shared(of: string): Record<string, unknown> {
  const keys = new Set(linesIn(folder, "keys.ndjson").map(({ id }) => id));
  const names = Object.keys(filesIn(of)).filter((name) => name.endsWith(".ndjson"));
  return Object.fromEntries(
    names.map((name) => {
      const part = name.replace(".ndjson", "");
      const left = OF_SERVER[part] ?? [];
      const lines = linesIn(of, name)
        .filter(({ id }) => id !== made.live && (part !== "keys" || keys.has(id)))
        .map((line) => ({ ...line, ...(part === "keys" && { permissions: given(line.permissions) }) }))
        .map((line) => JSON.stringify(line, (field, value) => (left.includes(field) ? undefined : value)));
      return [part, lines];
    }),
  );
}

describe("an import of the export into an empty organization", () => {
  let again: string;
  beforeAll(async () => {
    const { code, stdout, stderr } = await importInto(copy.importKey);
    if (code !== 0) throw new Error(stdout + stderr);
    expect(stdout).toContain("  logs: 14 imported, 0 already here");
    const versions = linesIn(folder, "versions.ndjson").length;
    expect(stdout).toContain(`  versions: ${versions} imported, 0 already here`);
    expect(stdout).toContain(
      "live at the time of the export: export into a new folder after it has ended, and import that.",
    );
    expect(stderr).not.toContain("Import again");
    again = join(emptyFolder(afterTests), "again");
    const second = await exportTo(again, target.url, copy.importKey);
    expect([second.code, second.stdout]).toEqual([
      2,
      expect.stringContaining("The key of the export has limits"),
    ]);
  }, 4 * SERVER_TIMEOUT_MS);

  test("is exported as the same records, byte for byte, with the same contents of files", () => {
    expect(shared(again)).toEqual(shared(folder));
    const drafts = (of: string) => linesIn(of, "assistants.ndjson").map(({ draft }) => draft);
    expect(drafts(again)).toEqual(drafts(folder));
    const contents = (of: string) =>
      Object.entries(filesIn(of)).filter(([name]) => name.startsWith("files/"));
    expect(contents(again)).toEqual(contents(folder));
    expect(contents(folder)).toHaveLength(2);
  });

  test("keeps the order of keys and the digits of numbers in functions", () => {
    for (const name of ["assistants.ndjson", "versions.ndjson"]) {
      const counts = [folder, again].map((of) => filesIn(of)[name]!.split(EXACT_FUNCTION).length - 1);
      expect([name, counts[0]! > 0, counts[0]]).toEqual([name, true, counts[1]]);
    }
  });

  test("is made again without any change, and says so", async () => {
    const state = async () => {
      const query = `{ assistants { data { id updatedAt version { number } draft { updatedAt } } }
        workflows { updatedAt nodes { updatedAt } edges { updatedAt } } deployments { updatedAt } logs { totalCount } }`;
      return copy.api.gql(query);
    };
    const before = await state();
    const { code, stdout } = await importInto(copy.importKey);
    const counts = stdout.split("\n").filter((line) => line.includes(" already here"));
    expect(counts.length).toBeGreaterThan(8);
    for (const line of counts) expect(line).toContain(": 0 imported, ");
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("Nothing has changed: everything that can be taken over is here."),
    ]);
    expect(await state()).toEqual(before);
  });

  test("shows the versions of all assistants of a workflow in its conversations", async () => {
    const { id } = linesIn(folder, "logs.ndjson").find(({ workflowId }) => workflowId !== null)!;
    const versionsIn = async (from: Api) =>
      (await from.gql("query ($id: ID!) { chat(id: $id) { versions { id number } } }", { id })).chat.versions;
    expect(await versionsIn(api)).toHaveLength(2);
    expect(await versionsIn(copy.api)).toEqual(await versionsIn(api));
  });

  test("has versions that can be restored, and a draft that can be published", async () => {
    const [first, second] = made.assistants;
    const { restoreAssistantVersion: restored } = await copy.api.gql(
      "mutation ($id: ID!) { restoreAssistantVersion(assistantId: $id, number: 2) { chat { prompt functions } voice { functions } } }",
      { id: first },
    );
    const [before] = linesIn(folder, "versions.ndjson").filter(({ number }) => number === 2);
    expect(restored.chat.prompt).toBe((before!.document as { chat: { prompt: string } }).chat.prompt);
    const { publishAssistantDraft: published } = await copy.api.gql(
      "mutation ($id: ID!) { publishAssistantDraft(assistantId: $id) { name chat { prompt } sms { forceRag } } }",
      { id: second },
    );
    expect(published).toEqual({ name: "Drafted", chat: { prompt: "Try this." }, sms: { forceRag: true } });
  });

  test("lets clients go on with their old keys", async () => {
    const old = copy.api.as({ "X-API-Key": key });
    expect((await old.gql("{ organization { id } }")).organization.id).toBe(copy.organizationId);
  });
});
