import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { checkFolder, DamagedFolderError } from "../../src/cli/folder/check-folder";
import { PARTS, type Part } from "../../src/cli/folder/format";
import { importFolder } from "../../src/cli/folder/import-folder";
import { Http } from "../../src/cli/import/http";
import { Report } from "../../src/cli/import/report";
import { Target } from "../../src/cli/import/target";
import { useApp } from "../support/app";
import { importerOf } from "../support/importers";
import { afterTests, emptyFolder, runToEnd, SERVER_TIMEOUT_MS } from "../support/server";
import { rows } from "../support/suite";
import { fillOrganization, linesIn, rewrite } from "./organization";

const running = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });

let whole: string;
beforeAll(async () => {
  const { api, secretKey } = await running.otherOrganization();
  await fillOrganization(api, 3);
  whole = join(emptyFolder(afterTests), "export");
  const env = { PARLEY_URL: running.url, PARLEY_KEY: secretKey };
  expect(await runToEnd("cli/export", env, whole)).toMatchObject({ code: 0 });
}, 2 * SERVER_TIMEOUT_MS);

type Json = Record<string, unknown>;
const WRONG: readonly unknown[] = [undefined, null, 5, "x", [null], { x: null }];
/** Imports of a short run. */
const SAMPLE = 13;

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null;
/** Paths of all values in a record, those of lists by the first entry. */
function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const entries = Array.isArray(value)
    ? value.slice(0, 1).map((one) => ["0", one] as const)
    : isRecord(value) && path.length < 3
      ? Object.entries(value)
      : [];
  return [
    ...(path.length > 0 ? [path] : []),
    ...entries.flatMap(([name, inner]) => pathsIn(inner, [...path, name])),
  ];
}
function put(record: Json, [name = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length > 0) put(record[name] as Json, rest, value);
  else if (value === undefined) delete record[name];
  else record[name] = value;
}

/** A copy of the export with other records of a part. */
function copyWith(part: Part, change: (records: Json[]) => Json[]): string {
  const folder = join(emptyFolder(), "copy");
  cpSync(whole, folder, { recursive: true });
  const records = change(linesIn(folder, PARTS[part]));
  rewrite(folder, PARTS[part], records.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return folder;
}

/** A copy of the export in which the first record of a part has another value. */
const changed = (part: Part, path: readonly string[], value: unknown): string =>
  copyWith(part, (records) => {
    put(records[0]!, path, value);
    return records;
  });

/** Imports a folder into a new organization. @returns what it lists */
async function importing(folder: string): Promise<string> {
  const { api } = await running.otherOrganization();
  const key = (await importerOf(api)).headers["X-API-Key"]!;
  const report = new Report(true);
  const headers = { "X-API-Key": key };
  const http = new Http({ name: "The target", headers, patienceMs: 0, say: () => undefined });
  const target = new Target(http, running.url, report);
  await importFolder({ folder, target, report, progress: () => undefined });
  return report.lines().join("\n");
}

test.each<[part: Part, path: string, value: unknown, problem: string]>([
  ["organization", "id", undefined, "organization.ndjson:1: id must be a text that is not empty."],
  ["assistants", "id", 5, "assistants.ndjson:1: id must be a text that is not empty."],
  ["assistants", "chat", null, "assistants.ndjson:1: chat must be an object."],
  ["assistants", "draft", { basedOn: 1 }, "assistants.ndjson:1: draft must be an object with a document."],
  ["versions", "number", "1) { id } x: me", "versions.ndjson:1: number must be a whole number from 1."],
  ["workflows", "nodes", [null], "workflows.ndjson:1: nodes must be a list of objects."],
  ["API keys", "permissions", "read", "keys.ndjson:1: permissions must be a list of texts."],
  ["logs", "messages", ["Hello"], "logs.ndjson:1: messages must be a list of objects."],
  ["logs", "metadata", null, "logs.ndjson:1: metadata must be an object."],
  ["end users", "facts", [{}], "end-users.ndjson:1: facts must be a list of facts with an assistantId."],
])(
  "a record of %s whose %s is %j is refused with its place before anything is stored",
  async (part, path, value, problem) => {
    await expect(checkFolder(changed(part, path.split("."), value))).rejects.toThrow(problem);
  },
);

const PRESENT = (Object.keys(PARTS) as Part[]).filter((part) => part !== "telephony connections");
test.each(PRESENT)("a record of %s that stands twice is refused with both places", async (part) => {
  let last = 0;
  const folder = copyWith(part, (records) => {
    last = records.length + 1;
    return [...records, { ...records[0]!, name: "Another", createdAt: "2030-01-01T00:00:00.000Z" }];
  });
  const problem = new RegExp(`${PARTS[part]}:${last}: The record .+ stands in line 1, too\\.`);
  await expect(checkFolder(folder)).rejects.toThrow(problem);
});

test.each<[what: string, part: Part, path: string, sentence: string]>([
  ["a file of an assistant", "assistants", "files", "This assistant names files that are not in the folder"],
  [
    "the number of a deployment",
    "deployments",
    "telephonyConnectionId",
    "The phone number of this deployment is not",
  ],
])("%s that the folder does not have is listed", async (_, part, path, sentence) => {
  const folder = changed(part, [path], path === "files" ? [{ id: "gone" }] : "gone");
  const id = String(linesIn(folder, PARTS[part])[0]!.id);
  expect(await importing(folder)).toMatch(new RegExp(`  - ${sentence}.* \\[${id}\\]`));
});

test("a report of an export that is none is refused before anything is stored", async () => {
  const folder = changed("organization", ["x"], 1);
  rewrite(folder, "report.json", '{"notRead": null}');
  await expect(checkFolder(folder)).rejects.toThrow("report.json:1: The file is not a report of an export.");
});

test(
  "whatever value of a record is wrong, the import refuses the folder, or goes on and lists the record",
  async () => {
    const parts = (Object.keys(PARTS) as Part[]).filter((part) => existsSync(join(whole, PARTS[part])));
    const all = parts.flatMap((part) =>
      pathsIn(linesIn(whole, PARTS[part])[0]).flatMap((path) =>
        WRONG.map((wrong) => [part, path, wrong] as const),
      ),
    );
    const failed: string[] = [];
    for (const [part, path, wrong] of rows(all, SAMPLE).rows)
      try {
        const said = await importing(changed(part, path, wrong));
        if (/undefined|\[object|NaN/.test(said)) failed.push(said);
      } catch (error) {
        const what = `${part}, ${path.join(".")}, ${JSON.stringify(wrong)}`;
        if (!(error instanceof DamagedFolderError)) failed.push(`${what}: ${String(error)}`);
      }
    expect(failed).toEqual([]);
  },
  20 * SERVER_TIMEOUT_MS,
);
