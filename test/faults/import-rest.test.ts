import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { type Api } from "../support/api";
import { useApp } from "../support/app";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { upload } from "../support/files";
import { importerOf } from "../support/importers";
import {
  afterTest,
  emptyFolder,
  RUN,
  runToEnd,
  SERVER_TIMEOUT_MS,
  type ProcessResult,
} from "../support/server";
import { HAS_TERMINALS, openTerminal } from "../support/terminal";

const ASSISTANTS = 5;
const LOGS = 30;

const source = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });
const target = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });

/** The organization to copy. */
const made: {
  assistants: string[];
  logs: string[];
  live: string;
  fileId: string;
  secretKey: string;
  publicKey: string;
} = {
  ...{ assistants: [], logs: [], live: "", fileId: "", secretKey: "", publicKey: "" },
};
let from: Api;
beforeAll(async () => {
  const { api, secretKey, publicKey } = await source.otherOrganization();
  from = api;
  Object.assign(made, { secretKey, publicKey });
  await fill(api);
  await api.post("/rest/v1/organization/keys", { name: "newer than the PUBLIC key" }, 200);
});

async function fill(api: Api): Promise<void> {
  for (let index = 0; index < ASSISTANTS; index++) {
    const body = { name: `Assistant ${index}`, description: "é ☺", variables: { city: "Bern", index } };
    made.assistants.push(await quietAssistant(api, body));
  }
  const [first] = made.assistants;
  const functions = [{ name: "lookUp", parameters: { type: "object", properties: {} }, secretKey: "shared" }];
  await api.patch(`/rest/v1/assistants/${first}/voice`, { prompt: "Speak.", voice: "nova", functions }, 200);
  await api.patch(`/rest/v1/assistants/${first}/theme`, { theme: { title: "Hi" } }, 200);
  await api.gql(
    'mutation ($id: ID!) { updateRagSettings(assistantId: $id, channel: SMS, input: { ragTriggerTopics: "prices" }) { id } }',
    { id: first },
  );
  const { id } = await api.post(
    "/rest/v1/settings",
    { url: "https://example.com/hook", secret: "s3cret", name: "Sales" },
    201,
  );
  await api.patch(`/rest/v1/settings/${id}`, { name: "CRM" }, 200);
  made.fileId = (await upload(api, { content: "what a file holds", metadata: { lang: "en" } })).id;
  for (let index = 0; index < LOGS; index++) {
    const assistantId = made.assistants[index % ASSISTANTS]!;
    const id = await newChat(api, assistantId, { metadata: { index }, userId: "ada" });
    await say(api, id, `Question ${index}`);
    await say(api, id, `Answer ${index}`, "TOOL");
    await endChat(api, id, "done");
    made.logs.push(id);
  }
  made.live = await newChat(api, first!);
}

/** A new organization of the target server, with a key of its operator. */
async function newTarget() {
  const { api, organizationId } = await target.otherOrganization();
  const importer = await importerOf(api);
  return { api, organizationId, key: importer.headers["X-API-Key"]! };
}

const argumentsFor = (key: string, url = from.url) => [
  ...["rest", "--from", url, "--from-key", made.secretKey, "--url", target.url, "--key", key],
];
const runImport = (key: string, ...more: string[]): Promise<ProcessResult> =>
  runToEnd("cli/import", {}, ...argumentsFor(key), ...more);

const keysOf = async (api: Api): Promise<string[]> =>
  (await api.get("/rest/v1/organization/keys", 200)).map(({ id }: { id: string }) => id);

/** Everything that REST shows of an organization, except what belongs to the installation. */
async function shownBy(api: Api): Promise<unknown> {
  const assistants = (await api.get("/rest/v1/assistants?order=asc&take=100", 200)).data;
  const parts: Record<string, unknown> = {};
  for (const { id } of assistants) {
    for (const kind of ["voice", "sms", "chat", "theme"])
      parts[`${id} ${kind}`] = await api.get(`/rest/v1/assistants/${id}/${kind}`, 200);
    const logs = await api.get(`/rest/v1/assistants/${id}/logs?order=asc&take=100`, 200);
    parts[`${id} logs`] = logs.filter((log: { id: string }) => log.id !== made.live);
    for (const log of logs)
      if (log.id !== made.live) parts[log.id] = await api.get(`/rest/v1/assistants/${id}/log/${log.id}`, 200);
  }
  const files = (await api.get("/rest/v1/files", 200)).data.map((file: object) => ({
    ...file,
    organizationId: "",
  }));
  const settings = await api.get("/rest/v1/settings", 201);
  return { assistants, parts, files, settings };
}

test(
  "copies an organization, so that its clients go on with their old keys and ids",
  async () => {
    const { api, key } = await newTarget();
    const { code, stdout, stderr } = await runImport(key);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.any(String) });
    expect(stdout).toContain(`assistants: ${ASSISTANTS} imported, 0 already here`);
    expect(stdout).toContain(`logs: ${LOGS} imported, 0 already here`);
    expect(stdout).toContain(`live at the source: import again after it has ended. [${made.live}]`);
    expect(stdout).toContain("Bearer tokens");
    expect(stdout).toContain("missingVariables");
    const old = api.as({ "X-API-Key": made.secretKey });
    expect(await shownBy(old)).toEqual(await shownBy(from));
    const page = await api.as({ "X-API-Key": made.publicKey }).gqlError("{ assistants { data { id } } }");
    expect(page.extensions.code).toBe("FORBIDDEN"); // known, as a PUBLIC key
    expect((await old.get("/rest/v1/organization/keys/public", 200)).value).toBe(made.publicKey);
    const { url } = await old.get(`/rest/v1/files/${made.fileId}/download`, 200);
    expect(await (await fetch(url)).text()).toBe("what a file holds");
    const chat = await newChat(old, made.assistants[0]!);
    await say(old, chat, "and works on");
    const theirs = await keysOf(from);
    expect((await keysOf(old)).filter((id) => theirs.includes(id))).toEqual(theirs);
    expect((await runImport(key)).stdout).toContain("API keys: 0 imported, 3 already here");
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "imported again, changes nothing but what has changed at the source",
  async () => {
    const { api, key } = await newTarget();
    // Its keys belong to another organization of this server since the first test, so they are refused.
    await runImport(key);
    const before = await shownBy(api);
    const folder = emptyFolder();
    const { stdout } = await runImport(key, "--report", join(folder, "report.json"));
    expect(stdout).toContain(`assistants: 0 imported, ${ASSISTANTS} already here`);
    expect(stdout).toContain(`logs: 0 imported, ${LOGS} already here`);
    expect(await shownBy(api)).toEqual(before);
    const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
    expect(report.imported.logs).toEqual({ stored: 0, unchanged: LOGS });
    expect(report.notTakenOver.find(({ reason }: { reason: string }) => reason.includes("live")).ids).toEqual(
      [made.live],
    );
    await from.patch(`/rest/v1/assistants/${made.assistants[1]}`, { name: "Renamed" }, 200);
    await runImport(key);
    expect((await api.get(`/rest/v1/assistants/${made.assistants[1]}`, 200)).name).toBe("Renamed");
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "killed at any moment and run again, has the same result",
  async () => {
    const { api, key } = await newTarget();
    const countOf = async () =>
      (await api.gql("{ logs(first: 1) { totalCount } }")).logs.totalCount as number;
    let kills = 0;
    for (const enough of [1, 10, 20]) {
      const child = spawn(process.execPath, [RUN, "cli/import", ...argumentsFor(key)], {
        env: { PATH: process.env.PATH! },
        stdio: "ignore",
      });
      const ended = once(child, "exit");
      while (child.exitCode === null && (await countOf()) < enough)
        await new Promise((done) => setTimeout(done, 5));
      if (child.exitCode === null && child.kill("SIGKILL")) kills++;
      await ended;
    }
    expect(kills).toBeGreaterThan(0);
    await runImport(key);
    expect(await shownBy(api)).toEqual(await shownBy(from));
  },
  3 * SERVER_TIMEOUT_MS,
);

type Fault = (req: IncomingMessage, res: ServerResponse) => boolean;

/** A proxy of the source that fails as `fault` says. @returns its address */
async function faulty(fault: Fault): Promise<string> {
  const server = createServer((req, res) => {
    if (fault(req, res)) return;
    const headers = { "X-API-Key": String(req.headers["x-api-key"]) };
    void fetch(from.url + req.url!, { headers }).then(async (answer) => {
      const body = Buffer.from(await answer.arrayBuffer());
      res
        .writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") ?? "text/plain" })
        .end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterTest(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Fails every third request. */
function everyThird(fail: (res: ServerResponse) => unknown): Fault {
  let count = 0;
  return (_, res) => {
    if (++count % 3 !== 0) return false;
    fail(res);
    return true;
  };
}

describe("waits and continues while the source", () => {
  test.each<[string, (res: ServerResponse) => unknown]>([
    ["asks to wait", (res) => res.writeHead(429, { "Retry-After": "0" }).end()],
    ["is overloaded", (res) => res.writeHead(503, { "Retry-After": "0" }).end("busy")],
    [
      "answers with a date to wait for",
      (res) => res.writeHead(503, { "Retry-After": new Date(0).toUTCString() }).end(),
    ],
  ])(
    "%s",
    async (_, fail) => {
      const { api, key } = await newTarget();
      const url = await faulty(everyThird(fail));
      const { stderr } = await runToEnd("cli/import", {}, ...argumentsFor(key, url));
      expect(stderr).toContain("Trying again in 0 s.");
      expect(await shownBy(api)).toEqual(await shownBy(from));
    },
    3 * SERVER_TIMEOUT_MS,
  );

  test(
    "drops the connection in the middle of an answer",
    async () => {
      const { api, key } = await newTarget();
      let drops = 0;
      const url = await faulty((req, res) => {
        if (!req.url!.endsWith("/voice") || ++drops > 2) return false;
        res.writeHead(200, { "Content-Length": "1000" }).write("{");
        setTimeout(() => res.destroy(), 10);
        return true;
      });
      const { stderr } = await runToEnd("cli/import", {}, ...argumentsFor(key, url));
      expect(stderr).toContain(`The source at ${url} cannot be reached`);
      expect(await shownBy(api)).toEqual(await shownBy(from));
    },
    3 * SERVER_TIMEOUT_MS,
  );
});

describe("stops, keeps what it has stored, and prints the command that continues", () => {
  const fails = (status: number, headers = {}): Fault => {
    let logs = 0;
    return (req, res) => {
      if (!req.url!.includes("/log/") || ++logs < 4) return false;
      res.writeHead(status, headers).end();
      return true;
    };
  };
  test.each([
    ["is away for longer than --wait", fails(503)],
    ["asks to wait for longer", fails(429, { "Retry-After": "3600" })],
    ["asks again and again to wait for no time", fails(429, { "Retry-After": "0" })],
  ])(
    "if the source %s",
    async (_, fault) => {
      const { key } = await newTarget();
      const url = await faulty(fault);
      const { code, stderr, stdout } = await runToEnd(
        "cli/import",
        {},
        ...argumentsFor(key, url),
        "--wait",
        "1",
      );
      expect(code).toBe(1);
      expect(stdout).toContain(`assistants: ${ASSISTANTS} imported`);
      expect(stderr).toContain(
        `npm run --silent import -- rest --from ${url} --from-key KEY --url ${target.url} --key KEY --wait 1`,
      );
      expect(stderr).not.toContain(made.secretKey);
    },
    2 * SERVER_TIMEOUT_MS,
  );
});

test("a source that fails slowly is not asked for longer than --wait", async () => {
  const { key } = await newTarget();
  let tries = 0;
  const url = await faulty((_, res) => {
    tries++;
    setTimeout(() => res.writeHead(503).end(), 1_200);
    return true;
  });
  const { code } = await runToEnd("cli/import", {}, ...argumentsFor(key, url), "--wait", "4");
  expect([code, tries]).toEqual([1, 3]); // the pauses alone would leave time for a fourth
});

test("a log that the source cannot show is listed, and the others are imported", async () => {
  const { api, key } = await newTarget();
  const [broken] = made.logs;
  const url = await faulty((req, res) => {
    if (!req.url!.endsWith(`/log/${broken}`)) return false;
    res.writeHead(500, { "Retry-After": "0" }).end();
    return true;
  });
  const { code, stdout } = await runToEnd("cli/import", {}, ...argumentsFor(key, url));
  expect(code).toBe(2);
  expect(stdout).toContain(`logs: ${LOGS - 1} imported`);
  expect(stdout).toMatch(new RegExp(`This log was not read: .* \\[${broken}\\]`));
  expect((await api.gql("{ logs(first: 1) { totalCount } }")).logs.totalCount).toBe(LOGS - 1);
});

// The summary of the run names what the machine lacks.
if (!HAS_TERMINALS)
  test.todo("shows its progress at a terminal: apt-get install bsdutils, which has the program script");
(HAS_TERMINALS ? test : test.skip)("shows its progress at a terminal", async () => {
  const { key } = await newTarget();
  const terminal = openTerminal(`cli/import ${argumentsFor(key).join(" ")}`, {});
  expect(await terminal.ended()).toBe(2); // a conversation is live
  const shown = terminal.shown();
  for (const line of [`Assistants: ${ASSISTANTS} of ${ASSISTANTS}`, "Files: 1", "API keys: 1 of "])
    expect(shown).toContain(line);
  expect(shown).toMatch(/Logs of assistant \S+: [1-9]/);
});

test.each([
  [["rest"], "Name the source with --from URL"],
  [["rest", "--from", "example.com", "--from-key", "k"], "--from must be a URL"],
  [
    ["rest", "--from", "https://example.com/rest/", "--from-key", "k"],
    "--from must be the address of the server, without /graphql or /rest: --from https://example.com\n",
  ],
  [["other"], 'Unknown source "other".'],
  [[], "Name a source: rest, parley, vapi or retell."],
  [["rest", "--wait", "soon"], '--wait must be a whole number of seconds; got "soon".'],
  [["rest", "--wait", "-1"], '--wait must be a whole number of seconds; got "-1".'],
])("explains wrong arguments: %j", async (args, message) => {
  const env = { PARLEY_URL: target.url, PARLEY_KEY: "k" };
  const { code, stderr } = await runToEnd("cli/import", env, ...args);
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
});

test.each([
  [["nosuch"], 'Unknown source "nosuch".\n'],
  [[], "Name a source: rest, parley, vapi or retell.\n"],
])("names the source before the server in errors about %j", async (args, message) => {
  const { code, stderr } = await runToEnd("cli/import", {}, ...args);
  expect([code, stderr.slice(0, message.length)]).toEqual([1, message]);
});
