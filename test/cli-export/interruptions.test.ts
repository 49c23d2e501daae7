import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { importerOf } from "../support/importers";
import {
  afterTest,
  afterTests,
  emptyFolder,
  RUN,
  runToEnd,
  SERVER_TIMEOUT_MS,
  type Env,
} from "../support/server";
import { tornReads } from "../support/torn-reads";
import { filesIn, fillOrganization, linesIn, type Filled } from "./organization";

const source = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });
const target = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });

let api: Api;
let made: Filled;
let key: string;
let whole: string;
beforeAll(async () => {
  ({ api, secretKey: key } = await source.otherOrganization());
  made = await fillOrganization(api, 40);
  whole = newFolder(afterTests);
  const { code, stdout } = await exportTo(whole);
  expect([code, stdout]).toEqual([0, expect.stringContaining("Exported")]);
}, 4 * SERVER_TIMEOUT_MS);

const newFolder = (over = afterTest) => join(emptyFolder(over), "export");
const settings = (url = source.url): Env => ({ PARLEY_URL: url, PARLEY_KEY: key });
const exportTo = (folder: string, url?: string, ...more: string[]) =>
  runToEnd("cli/export", settings(url), folder, ...more);

/** The length of a conversation that is live. */
const LIVE_SECONDS = /("status":"in-progress","startedAt":"[^"]*","durationSeconds":)\d+/g;

/** The records of an export, whose files are the same however it was made. */
const recordsIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filesIn(folder))
      .filter(([name]) => !/^(manifest|keys)/.test(name))
      .map(([name, content]) => [name, content.replace(LIVE_SECONDS, "$1")]),
  );

/** Runs a program, and kills it when a condition holds. @returns whether it was killed */
async function killedAt(
  program: string,
  args: readonly string[],
  env: Env,
  holds: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const options = { env: { PATH: process.env.PATH!, ...env }, stdio: "ignore" } as const;
  const child = spawn(process.execPath, [RUN, program, ...args], options);
  const ended = once(child, "exit");
  while (child.exitCode === null && !(await holds())) await new Promise((done) => setTimeout(done, 2));
  const isKilled = child.exitCode === null && child.kill("SIGKILL");
  await ended;
  return isKilled;
}

describe("an export", () => {
  test(
    "that is killed at any moment and run again has the same records",
    async () => {
      const folder = newFolder();
      const has = (name: string) => () => existsSync(join(folder, name));
      const moments = [
        "export-state.json",
        "workflows.ndjson",
        "assistants.ndjson.partial",
        "files.ndjson.partial",
      ];
      let kills = 0;
      for (const name of [...moments, "logs.ndjson.partial"])
        if (await killedAt("cli/export", [folder], settings(), has(name))) kills++;
      expect(kills).toBeGreaterThan(2);
      expect(await exportTo(folder)).toMatchObject({ code: 0 });
      expect(recordsIn(folder)).toEqual(recordsIn(whole));
    },
    3 * SERVER_TIMEOUT_MS,
  );

  test("has one version of an assistant that changes while it is read", async () => {
    const { api, secretKey } = await source.otherOrganization();
    const id = await newAssistant(api);
    const CHANGE = `mutation ($id: ID!) { updateAssistantDocument(assistantId: $id,
      input: { description: "Later", voice: { prompt: "Later." }, chat: { prompt: "Later." } }) { id } }`;
    const { url, stop, isTorn } = await tornReads(source.url, () => api.gql(CHANGE, { id }));
    const folder = newFolder();
    const { code } = await runToEnd("cli/export", { ...settings(url), PARLEY_KEY: secretKey }, folder);
    stop();
    expect([code, isTorn()]).toEqual([0, true]);
    const [assistant] = linesIn(folder, "assistants.ndjson");
    const version = linesIn(folder, "versions.ndjson").at(-1)!;
    expect(assistant).toMatchObject({ version: { number: 2 }, description: "Later" });
    expect(version).toMatchObject({ number: 2, document: { chat: { prompt: "Later." } } });
    expect(assistant!.chat).toMatchObject({ prompt: "Later." });
  });

  test(
    "continues after any number of requests that are dropped or answered with 429 or 503",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom(0, 200, 429, 503), { minLength: 3, maxLength: 6 }),
          async (answers) => {
            const url = await proxy((count) => answers[count] ?? 200);
            const folder = newFolder();
            const { code, stdout } = await exportTo(folder, url);
            expect([code, stdout]).toEqual([0, expect.stringContaining("Exported")]);
            expect(recordsIn(folder)).toEqual(recordsIn(whole));
          },
        ),
        { numRuns: 3, examples: [[[200, 0, 429, 503]]] },
      );
    },
    4 * SERVER_TIMEOUT_MS,
  );

  test.each([
    ["asks to wait for longer than --wait", 500, "The server at URL failed with status 500, also after 0 s."],
    ["refuses the key meanwhile", 401, "The server refuses the key"],
  ])("stops and prints the command that continues if the server %s", async (_, status, reason) => {
    const folder = newFolder();
    const url = await proxy((count) => (count > 6 ? status : 200));
    const { code, stderr } = await exportTo(folder, url, "--wait", "0");
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason.replace("URL", url))]);
    expect(stderr).toContain(`npm run --silent export -- ${folder} --wait 0`);
    expect(stderr).not.toContain(key);
    expect(await exportTo(folder)).toMatchObject({ code: 0 });
    expect(recordsIn(folder)).toEqual(recordsIn(whole));
  });

  test("leaves out a deleted log without a word, and lists one of which the server does not find a part", async () => {
    const ids = linesIn(whole, "logs.ndjson").map(({ id }) => id as string);
    const [deleted, broken] = [ids[1]!, ids[3]!];
    const url = await proxy(
      () => 200,
      source.url,
      (answer, query) => {
        const { variables = {} } = JSON.parse(query || "{}");
        const aliasOf = (id: string) =>
          Object.keys(variables)
            .filter((name) => name.startsWith("i") && variables[name] === id)
            .map((name) => `l${name.slice(1)}`);
        const paths = [
          ...aliasOf(deleted).map((one) => [one]),
          ...aliasOf(broken).map((one) => [one, "chat"]),
        ];
        if (paths.length === 0) return answer;
        const { data } = JSON.parse(answer.toString());
        const errors = paths.map((path) => {
          data[path[0]!] = null;
          const code = path.length === 1 ? "LOG_NOT_FOUND" : "ASSISTANT_NOT_FOUND";
          return { message: `Not here: ${path.at(-1)}.`, path, extensions: { code } };
        });
        return JSON.stringify({ data, errors });
      },
    );
    const folder = newFolder();
    const { code, stdout } = await exportTo(folder, url);
    expect(linesIn(folder, "logs.ndjson").map(({ id }) => id)).toEqual(
      ids.filter((id) => id !== deleted && id !== broken),
    );
    expect([code, stdout]).toEqual([2, expect.stringContaining(`Not here: chat. [${broken}]`)]);
    expect(stdout).not.toContain(deleted);
    expect(stdout.split(broken)).toHaveLength(2);
  });

  test("of a running organization has all records that nobody changes", async () => {
    const { api: busy, secretKey } = await source.otherOrganization();
    const kept = await fillOrganization(busy, 20);
    const folder = newFolder();
    let isDone = false;
    const changes = (async () => {
      for (let count = 0; !isDone; count++) {
        const id = await newAssistant(busy, { name: `Passing ${count}` });
        const prompt = { prompt: `Prompt ${count}` };
        // An assistant that changes more often than the export reads it again would be listed.
        if (count < 8) await busy.patch(`/rest/v1/assistants/${kept.assistants[0]}/chat`, prompt, 200);
        await busy.delete(`/rest/v1/assistants/${id}`, 200);
      }
    })();
    const env = { PARLEY_URL: source.url, PARLEY_KEY: secretKey };
    const { code, stdout } = await runToEnd("cli/export", env, folder);
    isDone = true;
    await changes;
    expect([code, stdout]).toEqual([0, expect.stringContaining(`logs.ndjson: ${kept.logs}`)]);
    const files = filesIn(folder);
    for (const id of [...kept.assistants, kept.fileId]) expect(JSON.stringify(files)).toContain(id);
    const { api: empty } = await target.otherOrganization();
    const importKey = (await importerOf(empty)).headers["X-API-Key"]!;
    const imported = await runToEnd(
      "cli/import",
      { PARLEY_URL: target.url, PARLEY_KEY: importKey },
      "parley",
      folder,
    );
    expect(imported).toMatchObject({ code: 0 });
  });

  test("is refused in a folder of another organization, or with other files", async () => {
    const folder = newFolder();
    await killedAt("cli/export", [folder], settings(), () => existsSync(join(folder, "export-state.json")));
    const { secretKey } = await source.otherOrganization();
    const env = { PARLEY_URL: source.url, PARLEY_KEY: secretKey };
    expect(await runToEnd("cli/export", env, folder)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining("has an unfinished export of the organization") },
    });
    const other = newFolder();
    mkdirSync(other);
    writeFileSync(join(other, "notes.txt"), "mine");
    expect(await exportTo(other)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining("has files that belong to no export") },
    });
    expect(readFileSync(join(other, "notes.txt"), "utf8")).toBe("mine");
  });
});

test(
  "an import that is killed at any moment and run again has the same result",
  async () => {
    const { api: copy } = await target.otherOrganization();
    const importer = await importerOf(copy);
    const env = { PARLEY_URL: target.url, PARLEY_KEY: importer.headers["X-API-Key"]! };
    const query = "{ assistants { data { id } } files { data { id } } logs { totalCount } workflows { id } }";
    const counts = async () => {
      const found = await copy.gql(query);
      const { assistants, files, logs, workflows } = found;
      return [files.data.length, assistants.data.length, workflows.length, logs.totalCount] as const;
    };
    let kills = 0;
    for (const place of [0, 1, 2, 3]) {
      const before = (await counts())[place]!;
      if (await killedAt("cli/import", ["parley", whole], env, async () => (await counts())[place]! > before))
        kills++;
    }
    expect(kills).toBeGreaterThan(0);
    const { code, stdout, stderr } = await runToEnd("cli/import", env, "parley", whole);
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringMatching(/logs: \d+ imported/),
      expect.anything(),
    ]);
    expect(await counts()).toEqual([2, 2, 1, made.logs - 1]);
    const again = newFolder();
    await runToEnd("cli/export", env, again);
    const shared = ({ "versions.ndjson": versions, "files.ndjson": files }: Record<string, string>) => [
      versions,
      files,
    ];
    expect(shared(recordsIn(again))).toEqual(shared(recordsIn(whole)));
  },
  4 * SERVER_TIMEOUT_MS,
);

test(
  "an import that stops before it deletes an assistant that the export has only logs of does so when it is run again",
  async () => {
    const { api: copy } = await target.otherOrganization();
    const importKey = (await importerOf(copy)).headers["X-API-Key"]!;
    const into = (url: string) =>
      runToEnd("cli/import", { PARLEY_URL: url, PARLEY_KEY: importKey }, "parley", whole);
    const ids = async () => {
      const { data } = (await copy.gql("{ assistants(order: asc) { data { id } } }")).assistants;
      return data.map(({ id }: { id: string }) => id) as string[];
    };
    const through = await proxy((_, body) => (body.includes("deleteAssistant") ? 401 : 200), target.url);
    expect((await into(through)).code).toBe(1);
    expect(await ids()).toContain(made.deleted);
    expect((await into(target.url)).stdout).toContain(`logs: ${made.logs - 1} imported`);
    expect(await ids()).toEqual(made.assistants);
    expect((await copy.gql("{ logs { totalCount } }")).logs.totalCount).toBe(made.logs - 1);
  },
  2 * SERVER_TIMEOUT_MS,
);

/**
 * A proxy of a server that answers requests to GraphQL as `statusOf` says: 200 passes one on, 0 drops the connection.
 * @param url of the server. Default: the source
 */
async function proxy(
  statusOf: (count: number, body: string) => number,
  url = source.url,
  changed = (answer: Buffer<ArrayBuffer>, _query: string): Buffer<ArrayBuffer> | string => answer,
): Promise<string> {
  let count = 0;
  const server = createServer((req, res) => {
    void (async () => {
      const body = Buffer.concat((await req.toArray()) as Buffer[]);
      const status = req.url === "/graphql" ? statusOf(count++, body.toString()) : 200;
      if (status === 0) res.destroy();
      else if (status !== 200)
        res.writeHead(status, { "Retry-After": RETRY_AFTER[status] ?? "0" }).end(REFUSALS[status] ?? "busy");
      else await pass(req, body, url, res, (answer) => changed(answer, body.toString()));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterTest(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const RETRY_AFTER: Readonly<Record<number, string>> = { 500: "3600" };
const REFUSALS: Readonly<Record<number, string>> = {
  401: JSON.stringify({
    errors: [{ message: "The key is inactive.", extensions: { code: "UNAUTHENTICATED" } }],
  }),
};

async function pass(
  req: IncomingMessage,
  body: Buffer<ArrayBuffer>,
  url: string,
  res: ServerResponse,
  changed: (answer: Buffer<ArrayBuffer>) => Buffer<ArrayBuffer> | string,
): Promise<void> {
  const { "x-api-key": key = "", "content-type": type = "application/json" } = req.headers;
  const headers = {
    ...{ "X-API-Key": String(key), "Content-Type": type, "Apollo-Require-Preflight": "true" },
  };
  const answer = await fetch(url + req.url!, {
    ...{ method: req.method!, headers },
    ...(body.length > 0 && { body }),
  });
  const content = Buffer.from(await answer.arrayBuffer());
  res
    .writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") ?? "" })
    .end(changed(content));
}
