import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { logOf } from "../../src/cli/import/log-of";
import { Http, ImportStoppedError, RefusedError } from "../../src/cli/import/http";
import { Report } from "../../src/cli/import/report";
import { request } from "../../src/cli/import/request";
import { entriesIn, Source } from "../../src/cli/import/source";
import type { JsonObject } from "../../src/platform/json/json-object";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { importerOf } from "../support/importers";
import { afterTests, runToEnd, SERVER_TIMEOUT_MS, type ProcessResult } from "../support/server";

const running = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });

const KEY = "8f14e45f-ceea-467f-a8b1-6f4e2a1c0b9d";
const page = (data: unknown[]) => ({ data, meta: { page: 1, take: 100, hasNextPage: false } });
const TEXT = {
  ...{ initialMessage: "Hi", prompt: "Be kind.", resources: "", provider: "OPENAI", temperature: 1 },
  ...{ maxTokensOutput: 100, functions: [], isRagEnabled: true, ragTriggerTopics: "prices" },
};
const TIMES = { createdAt: "2022-12-01T00:00:00.000Z", updatedAt: "2022-12-24T00:00:00.000Z" };
const MESSAGES = [
  { role: "bot", content: "Hello.", time: 1 },
  { role: "human", text: "Hi there", createdAt: "2023-01-01T00:00:05Z" },
  "a line without a role",
];

/** Answers of a service that numbers its records, has other models, and shows logs in another form. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  "/rest/v1/organization": { id: "9" },
  "/rest/v1/assistants?order=asc&page=1&take=100": page([
    { id: 7, name: "Seven", color: "red", ...TIMES },
    { id: "a/b?c", name: "Odd", description: null, variables: { n: 1 } },
    { id: "nameless" },
    { id: 7, name: "Seven again" },
  ]),
  ...Object.fromEntries(
    ["7", "a%2Fb%3Fc", "nameless"].flatMap((id) => [
      [`/rest/v1/assistants/${id}/voice`, { ...TEXT, model: "GPT_99", voice: "zoe", mood: "happy" }],
      [`/rest/v1/assistants/${id}/sms`, { ...TEXT, model: "GPT_4_O", keywords: "help" }],
      [`/rest/v1/assistants/${id}/chat`, { ...TEXT, model: "GPT_4_O", temperature: 7 }],
      [`/rest/v1/assistants/${id}/theme`, { theme: { title: "T" }, mode: "VOICE_ONLY" }],
      [`/rest/v1/assistants/${id}/logs?order=asc&page=1&take=100`, []],
    ]),
  ),
  "/rest/v1/assistants/7/logs?order=asc&page=1&take=100": [
    { id: 1, type: "TEXT", label: "Grace", createdAt: "2023-01-01T00:00:00Z" },
    { id: 2, type: "VOICE", label: "+41445550100", createdAt: "2023-01-02T00:00:00Z" },
    { id: 3, type: "PIGEON", label: "", createdAt: "2023-01-03T00:00:00Z" },
    { id: 1, type: "TEXT", label: "Grace again", createdAt: "2023-01-04T00:00:00Z" },
  ],
  "/rest/v1/assistants/7/log/1": {
    ...{
      id: 1,
      type: "TEXT",
      messages: MESSAGES,
      metadata: { cost: 3 },
      customerMetadata: { userId: "grace" },
    },
  },
  "/rest/v1/assistants/7/log/2": {
    ...{ id: 2, type: "VOICE", recordingUrl: "https://old.example/2.wav", messages: { shape: "unknown" } },
    ...{ metadata: { phoneNumber: "+41445550100" }, customerMetadata: { campaign: "spring" } },
  },
  "/rest/v1/assistants/7/log/3": { id: 3, type: "PIGEON", messages: [] },
  "/rest/v1/organization/keys": [
    { id: 5, value: KEY, type: "SECRET", status: "ACTIVE" },
    { id: 4, value: "8f1…0b9d", type: "SECRET", status: "ACTIVE" },
    { id: 3, value: "a-key-only-for-imports", type: "SECRET", status: "ACTIVE", permissions: ["import"] },
    { id: 5, value: `${KEY}-again`, type: "SECRET", status: "ACTIVE" },
  ],
  "/rest/v1/settings": [
    { id: 1, url: "https://example.com/hook", secret: "s", name: null, ...TIMES },
    { id: 2, url: "http://10.0.0.1/hook", secret: "s", name: null },
    { id: 1, url: "https://example.com/again", secret: "s", name: null },
  ],
};

class Redirect {
  constructor(readonly to: string) {}
}

/** Requests to the services of all tests. */
const seen: string[] = [];
let env: Record<string, string>;
let result: ProcessResult;
let api: Api;

/** Imports from a service with these answers, or functions that make them, by path. @param accepted requests until it refuses the key */
async function importFrom(
  answers: Readonly<Record<string, unknown>>,
  accepted = Infinity,
): Promise<ProcessResult> {
  let requests = 0;
  const server = createServer((req, res) => {
    const given = answers[req.url!];
    const answer: unknown = typeof given === "function" ? given() : given;
    const isRefused = ++requests > accepted;
    seen.push(`${req.url} ${req.headers["x-api-key"] === undefined ? "without" : "with"} a key`);
    if (answer instanceof Redirect) return void res.writeHead(302, { Location: answer.to }).end();
    res.writeHead(isRefused ? 401 : answer === undefined ? 404 : 200, { "Content-Type": "application/json" });
    res.end(JSON.stringify(answer === undefined || isRefused ? { message: "no" } : answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterTests(() => server.close());
  const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return runToEnd("cli/import", env, "rest", "--from", from);
}

beforeAll(async () => {
  const importer = await importerOf(running.api);
  env = {
    PARLEY_URL: `${running.url}/`,
    PARLEY_KEY: importer.headers["X-API-Key"]!,
    PARLEY_FROM_KEY: KEY,
  };
  result = await importFrom(ANSWERS);
  api = running.api.as({ "X-API-Key": KEY });
}, 2 * SERVER_TIMEOUT_MS);

describe("an import from a service of another kind", () => {
  test("stores what it can, and says that something was refused", () => {
    expect({ code: result.code, stderr: result.stderr }).toEqual({
      ...{ code: 2, stderr: expect.stringContaining("Some records were not imported") },
    });
    for (const line of ["assistants: 2 imported", "logs: 2 imported", "API keys: 1 imported"])
      expect(result.stdout).toContain(line);
  });

  test("keeps ids that are numbers or have special characters, and the old key", async () => {
    expect(await api.get("/rest/v1/assistants/7", 200)).toMatchObject({ id: "7", name: "Seven" });
    expect(await api.get("/rest/v1/assistants/a%2Fb%3Fc", 200)).toMatchObject({ variables: { n: 1 } });
    expect(await api.get("/rest/v1/assistants/7/sms", 200)).toMatchObject({
      model: "GPT_4_O",
      keywords: "help",
    });
    expect(await api.get("/rest/v1/assistants/7/theme", 200)).toEqual({
      theme: { title: "T" },
      mode: "VOICE_ONLY",
    });
  });

  test("imports the first of several records with the same id", async () => {
    expect((await api.get("/rest/v1/assistants/7", 200)).name).toBe("Seven");
    expect((await api.get("/rest/v1/settings", 201)).map(({ url }: JsonObject) => url)).toEqual([
      "https://example.com/hook",
    ]);
  });

  test("keeps the times that the source shows, and lists the records without any", async () => {
    const { assistant, webhookDestinations } = await running.api.gql(
      '{ assistant(id: "7") { createdAt updatedAt } webhookDestinations { createdAt updatedAt } }',
    );
    expect([assistant, ...webhookDestinations]).toEqual([TIMES, TIMES]);
    for (const sentence of ["Creation times of assistants", "Times of the last changes of assistants"])
      expect(result.stdout).toContain(sentence);
  });

  test("leaves out values that are not allowed here, and keeps the others beside them", async () => {
    expect(await api.get("/rest/v1/assistants/7/voice", 200)).toMatchObject({
      ...{ prompt: "Be kind.", model: "GPT_4_O_MINI", voice: "burt", isRagEnabled: true },
    });
    expect(await api.get("/rest/v1/assistants/7/chat", 200)).toMatchObject({
      temperature: 0.7,
      model: "GPT_4_O",
    });
  });

  test.each([
    ["an unknown identifier", /voice\.model of this assistant was left out: .*GPT_99.* \[7, a\/b\?c/],
    [
      "a number out of range",
      /chat\.temperature of this assistant was left out: must be from 0 to 2; got 7\./,
    ],
    [
      "a key that would lose its limits",
      "This key may do nothing but import, which only the command line grants. [3]",
    ],
    ["a field of the assistant", "The field color of assistants has no place here. [7]"],
    ["a field of a configuration", "The field mood of voice configurations has no place here."],
    ["a field of logs", "metadata.cost of logs has no place here. [1]"],
    ["nothing of a refused assistant", /voice\.model of this assistant was left out: [^\n]* \[7, a\/b\?c\]/],
    ["an assistant without a name", /This assistant was refused: .*input\.name.* \[nameless\]/],
    [
      "a key without its value",
      "The source shows no full value of this key: use a SECRET key as --from-key. [4]",
    ],
    ["a private address", /This webhook destination was refused: .* \[2\]/],
    ["a log of an unknown type", "This log has no type or no time that can be read. [3]"],
    ["messages of an unknown form", "they are stored as one SYSTEM message in JSON. [2]"],
    ["a recording", "The recording of this log stays at its address, and ends with it. [2]"],
    [
      "a part that the source lacks",
      "Files: The source answers /rest/v1/files?order=asc&page=1&take=100 with status 404",
    ],
    ["the id of the organization", "The organization's id, 9:"],
    ["another assistant with an id", "more than one assistant with this id: the first one counts. [7]"],
    ["another log with an id", "more than one log with this id: the first one counts. [1]"],
    ["another API key with an id", "more than one API key with this id: the first one counts. [5]"],
    [
      "another destination with an id",
      "more than one webhook destination with this id: the first one counts. [1]",
    ],
  ])("lists %s", (_, text) => {
    expect(result.stdout).toEqual(
      typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text),
    );
  });

  test("understands messages of other forms, and loses none", async () => {
    const log = await api.get("/rest/v1/assistants/7/log/1", 200);
    expect(log.messages.items).toMatchObject([
      { role: "ASSISTANT", content: "Hello.", metadata: { time: 1 } },
      { role: "USER", content: "Hi there", createdAt: "2023-01-01T00:00:05.000Z" },
      { role: "SYSTEM", content: '"a line without a role"' },
    ]);
    expect(log.customerMetadata).toEqual({ userId: "grace" });
    const call = await api.get("/rest/v1/assistants/7/log/2", 200);
    expect(call).toMatchObject({
      ...{ recordingUrl: "https://old.example/2.wav", customerMetadata: { campaign: "spring" } },
      messages: { items: [{ role: "SYSTEM", content: '{"shape":"unknown"}' }] },
    });
    const labels = (await api.get("/rest/v1/assistants/7/logs?order=asc", 200)).map(
      ({ label }: JsonObject) => label,
    );
    expect(labels).toEqual(["Grace", "+41445550100"]);
  });
});

test("refuses a key whose status or limits are not valid here, instead of giving it more rights", async () => {
  const wrong = [
    { status: "REVOKED" },
    { permissions: ["paint"] },
    { permissions: "read" },
    { assistantIds: ["nobody"] },
    { assistantIds: { 0: "7" } },
    { expiresAt: "tomorrow" },
  ];
  const keys = wrong.map((limits, index) => {
    const key = { id: `wrong-${index}`, value: `a-key-with-wrong-limits-${index}`, type: "SECRET" };
    return { ...key, status: "ACTIVE", ...limits };
  });
  const answers = { ...ANSWERS, "/rest/v1/organization/keys": keys };
  const { code, stdout } = await importFrom(answers);
  expect(code).toBe(2);
  for (const { id } of keys) expect(stdout).toMatch(new RegExp(`key .*\\[.*${id}`));
  const stored = (await api.gql("{ keys { id } }")).keys.map(({ id }: { id: string }) => id);
  expect(stored.filter((id: string) => id.startsWith("wrong-"))).toEqual([]);
});

test("lists values of records that cannot be taken over, and imports the others", async () => {
  const item = { id: 1, type: "TEXT", createdAt: "2023-01-01T00:00:00Z" };
  const early = { id: 9, type: "TEXT", createdAt: "2023-01-02T00:00:00Z" };
  const { code, stdout } = await importFrom({
    "/rest/v1/organization": { id: "9" },
    "/rest/v1/assistants?order=asc&page=1&take=100": page([{ id: 8, name: "Eight", variables: ["x"] }]),
    "/rest/v1/assistants/8/logs?order=asc&page=1&take=100": [item, early],
    "/rest/v1/assistants/8/log/1": { ...item, messages: [] },
    "/rest/v1/assistants/8/log/9": {
      ...early,
      customerMetadata: "x",
      metadata: { endedAt: "2023-01-01T00:00:00Z" },
    },
    "/rest/v1/files?order=asc&page=1&take=100": page([{ id: 3, name: "", mimeType: "text/plain" }]),
    "/rest/v1/files/3/download": { url: "/content" },
    "/content": "content",
  });
  expect(code).toBe(2);
  expect(stdout).toContain("logs: 1 imported, 0 already here");
  expect(stdout).toContain("This log was refused: The assistant 7 has a log with id 1. [1]");
  expect(stdout).toContain("variables of this assistant is no object: it is left out. [8]");
  expect(stdout).toContain("customerMetadata of this log is no object: it is left out. [9]");
  expect(stdout).toMatch(/endedAt of this log was left out: must not be before createdAt\. \[9\]/);
  const { metadata } = await api.get("/rest/v1/assistants/8/log/9", 200);
  expect(metadata.endedAt).toBe("2023-01-02T00:00:00.000Z");
  expect((await api.get("/rest/v1/files", 200)).data).toMatchObject([{ id: "3", name: "file" }]);
});

test("lists fields that the source has no value for, with those of the copy, and secrets that are no texts", async () => {
  const assistant = "/rest/v1/assistants/sparse";
  const functions = [
    { name: "flat", secretKey: 5 },
    { type: "function", function: { name: "nested" }, server: { secret: {} } },
    { name: "plain", secretKey: "a-secret" },
  ];
  const { stdout } = await importFrom({
    "/rest/v1/organization": { id: "9" },
    "/rest/v1/assistants?order=asc&page=1&take=100": page([{ id: "sparse", name: "Sparse" }]),
    [`${assistant}/voice`]: { ...TEXT, model: "GPT_4_O", functions },
    [`${assistant}/sms`]: { ...TEXT, model: "GPT_4_O", resources: null },
    [`${assistant}/chat`]: { ...TEXT, model: null, prompt: null, functions: null },
    [`${assistant}/theme`]: { mode: "VOICE_ONLY" },
    [`${assistant}/logs?order=asc&page=1&take=100`]: [],
    "/rest/v1/organization/keys": [],
    "/rest/v1/settings": [],
  });
  expect(stdout).toContain("assistants: 1 imported");
  const { chat } = (await running.api.gql('{ assistant(id: "sparse") { chat { prompt model functions } } }'))
    .assistant;
  expect(chat.functions).toEqual([]);
  const gap = (field: string) => `${field} has no value at the source that fits here: it is`;
  expect(stdout).toMatch(new RegExp(`${gap("prompt")} ".*" \\(chat\\)\\. \\[sparse\\]`));
  expect(stdout).toContain(`${gap("model")} ${chat.model} (chat). [sparse]`);
  expect(stdout).not.toContain(gap("functions"));
  expect(stdout).not.toContain(gap("resources"));
  for (const index of [0, 1])
    expect(stdout).toContain(
      `voice.functions.${index} has a secret that is no text: the function is called without one. [sparse]`,
    );
  expect(stdout).not.toContain("voice.functions.2");
});

test("lists an end and errors of a log that cannot be read", () => {
  const errors = [
    { at: "2023-01-01T00:00:00Z", message: "Broken" },
    { at: "then", message: "Lost" },
  ];
  const log = {
    id: "1",
    type: "TEXT",
    createdAt: "2023-01-01T00:00:00Z",
    metadata: { endedAt: "late", errors },
  };
  const { input, problems } = logOf(log, log);
  expect(input!.errors).toEqual([{ at: "2023-01-01T00:00:00.000Z", message: "Broken" }]);
  expect(problems).toEqual([
    "An error of this log has no time or no text that can be read: it is left out.",
    "The end of this log is no time that can be read: it is that of its last message.",
  ]);
});

test.each<[string, unknown]>([
  ["no messages", undefined],
  ["an empty object", {}],
  ["null", null],
  ["an empty list", []],
])("a log with %s has none", (_, messages) => {
  const item = { id: "1", type: "TEXT", createdAt: "2023-01-01T00:00:00Z" };
  expect(logOf(item, { ...item, messages })).toMatchObject({ input: { messages: [] }, problems: [] });
});

test.each([undefined, "", "http://", "ftp://example.com/a.txt", {}])(
  "a file with the link %j is refused, and not read from another address",
  async (link) => {
    const http = new Http({ name: "The source", headers: {}, patienceMs: 0, say: () => undefined });
    await expect(new Source(http, running.url).content(link, http)).rejects.toThrow(
      "The source gives no link to it that can be followed.",
    );
  },
);

test("the import waits once for a server of files that is away, and refuses its files; it stops if the source itself is away", async () => {
  const said: string[] = [];
  const open = new Http({
    name: "The source",
    headers: {},
    patienceMs: 1_000,
    say: (line) => said.push(line),
  });
  const source = new Source(open, running.url);
  const away = "http://127.0.0.1:1";
  await expect(source.content(`${away}/a`, open)).rejects.toMatchObject({
    ...{
      constructor: RefusedError,
      message: `The source at ${away} cannot be reached (ECONNREFUSED), also after 1 s.`,
    },
  });
  await expect(source.content(`${away}/b`, open)).rejects.toThrow("127.0.0.1:1 could not be reached before.");
  expect(said).toHaveLength(1);
  expect((await source.content("/rest/openapi.json", open)).status).toBe(200);
  await expect(new Source(open, away).content("/a", open)).rejects.toThrow(ImportStoppedError);
});

describe("a list of the source", () => {
  const report = () => new Report();
  const text = (one: Report) => one.lines().join("\n");

  /** A source whose list has the records that are left, in pages of three. */
  function sourceOf(records: { id: string }[], counted = () => records.length) {
    const answer = (url: string) => {
      const page = Number(new URL(url).searchParams.get("page"));
      const data = records.slice((page - 1) * 3, page * 3);
      const meta = { itemCount: counted(), hasNextPage: records.length > page * 3 };
      return { status: 200, type: "application/json", body: Buffer.from(JSON.stringify({ data, meta })) };
    };
    const http = { send: (url: string) => Promise.resolve(answer(url)) } as unknown as Http;
    return new Source(http, running.url);
  }

  test("has each record that stays, although others are deleted while it is read", async () => {
    const records = Array.from({ length: 10 }, (_, index) => ({ id: `r${index}` }));
    const found: unknown[] = [];
    for await (const { id } of sourceOf(records).list("/list", "record", report())) {
      found.push(id);
      if (["r0", "r5"].includes(String(id))) records.shift();
    }
    expect(found.toSorted()).toEqual(Array.from({ length: 10 }, (_, index) => `r${index}`));
  });

  test("ends although the source counts other records in each answer", async () => {
    let count = 0;
    const source = sourceOf([{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d" }], () => count++);
    const found: unknown[] = [];
    for await (const { id } of source.list("/list", "record", report())) found.push(id);
    expect(found).toEqual(["a", "b", "c", "d"]);
  });

  test("with entries that are no objects says so", () => {
    const noted = report();
    expect(entriesIn(["text", { id: 1 }], "/list", noted)).toEqual([{ id: 1 }]);
    expect([noted.isIncomplete, text(noted)]).toEqual([
      true,
      expect.stringContaining("The source lists entries of /list that are no objects."),
    ]);
  });

  test.each([
    ["/rest/v1/organization/keys", "API keys: "],
    ["/rest/v1/settings", "Webhook destinations: "],
    ["/rest/v1/files?order=asc&page=1&take=100", "Files: "],
    ["/rest/v1/assistants/8/logs?order=asc&page=1&take=100", "Logs: "],
  ])("that is none at %s is listed, and not read as an empty one", async (path, part) => {
    const { code, stdout } = await importFrom({
      "/rest/v1/organization": { id: "9" },
      "/rest/v1/assistants?order=asc&page=1&take=100": page([{ id: 8, name: "Eight" }]),
      "/rest/v1/assistants/8/logs?order=asc&page=1&take=100": [],
      "/rest/v1/files?order=asc&page=1&take=100": [],
      "/rest/v1/organization/keys": [],
      "/rest/v1/settings": [],
      [path]: { message: "Under maintenance" },
    });
    const [plain] = path.split("?");
    expect([code, stdout]).toEqual([
      2,
      expect.stringContaining(`${part}The source answers ${plain} with something else than a list.`),
    ]);
  });
});

const EMPTY = {
  "/rest/v1/organization": { id: "9" },
  "/rest/v1/assistants?order=asc&page=1&take=100": page([]),
  ...{ "/rest/v1/organization/keys": [], "/rest/v1/settings": [] },
  "/rest/v1/files?order=asc&page=1&take=100": page([]),
};

describe("an assistant of a source that answers with another state", () => {
  const path = "/rest/v1/assistants/changing";
  /** Answers of a source whose configurations change with the given requests, of all that ask for one. */
  const changing = (isChange: (count: number) => boolean) => {
    let [count, state] = [0, 1];
    const next = () => {
      if (isChange(++count)) state++;
      return { prompt: `State ${state}.` };
    };
    return {
      ...EMPTY,
      "/rest/v1/assistants?order=asc&page=1&take=100": page([{ id: "changing", name: "Changing" }]),
      ...Object.fromEntries(["voice", "sms", "chat"].map((kind) => [`${path}/${kind}`, next])),
      [`${path}/theme`]: { theme: {} },
      [`${path}/logs?order=asc&page=1&take=100`]: [],
    };
  };
  const prompts = async (): Promise<string[]> =>
    Promise.all(["voice", "sms", "chat"].map(async (kind) => (await api.get(`${path}/${kind}`, 200)).prompt));

  test("between the requests for its configurations is imported in one of them", async () => {
    // Between the first and the second request, and between the second and the third of the next reading.
    const { code, stdout } = await importFrom(changing((count) => count === 2 || count === 6));
    expect([code, await prompts()]).toEqual([0, ["State 3.", "State 3.", "State 3."]]);
    expect(stdout).not.toContain("changed each time");
  });

  test("each time is imported with a sentence about it", async () => {
    const { code, stdout } = await importFrom(changing((count) => count % 3 === 2));
    expect(code).toBe(0);
    expect(stdout).toContain(
      "This assistant changed each time it was read, so its configurations may be of several moments. [changing]",
    );
  });
});

test("logs before a page that the source refuses are imported", async () => {
  const path = "/rest/v1/assistants/cut";
  const items = Array.from({ length: 7 }, (_, index) => ({
    ...{ id: `cut-${index}`, type: "TEXT", createdAt: "2023-01-01T00:00:00Z" },
  }));
  const { code, stdout } = await importFrom({
    ...EMPTY,
    "/rest/v1/assistants?order=asc&page=1&take=100": page([{ id: "cut", name: "Cut" }]),
    ...Object.fromEntries(["voice", "sms", "chat"].map((kind) => [`${path}/${kind}`, { prompt: "Kept." }])),
    [`${path}/theme`]: { theme: {} },
    [`${path}/logs?order=asc&page=1&take=100`]: { data: items, meta: { hasNextPage: true } },
    ...Object.fromEntries(items.map((item) => [`${path}/log/${item.id}`, { ...item, messages: [] }])),
  });
  expect([code, stdout]).toEqual([2, expect.stringContaining("logs: 7 imported")]);
  expect(stdout).toContain(
    `Logs: The source answers ${path}/logs?order=asc&page=2&take=100 with status 404 (no).`,
  );
});

test("a source that redirects is named with the other address, which does not get the key", async () => {
  const before = seen.length;
  const answers = { "/rest/v1/organization": new Redirect("http://127.0.0.2:2/organization?token=secret") };
  const { code, stderr } = await importFrom(answers);
  expect([code, stderr.split("\n", 1)[0]]).toEqual([
    1,
    "The source answers /rest/v1/organization with status 302, which redirects to http://127.0.0.2:2/organization. Check --from: it must be the address of the source.",
  ]);
  expect(stderr).not.toContain("secret");
  expect(seen.slice(before)).toEqual(["/rest/v1/organization with a key"]);
});

test("a link to content that redirects is followed without the key, and not for ever", async () => {
  const before = seen.length;
  const files = ["moved", "circle"].map((id) => ({ id, name: `${id}.txt`, size: 7 }));
  const { code, stdout } = await importFrom({
    ...EMPTY,
    "/rest/v1/files?order=asc&page=1&take=100": page(files),
    ...{
      "/rest/v1/files/moved/download": { url: "/a" },
      "/a": new Redirect("b?c=1"),
      "/b?c=1": new Redirect("hours"),
    },
    ...{ "/rest/v1/files/circle/download": { url: "/x" }, "/x": new Redirect("/x") },
    "/hours": 1234567,
  });
  expect([code, stdout]).toEqual([2, expect.stringContaining("files: 1 imported")]);
  expect(stdout).toContain(
    "The content of this file was not read: The link to the content answers with status 302. [circle]",
  );
  expect(seen.slice(before)).toEqual(
    expect.arrayContaining(["/b?c=1 without a key", "/hours without a key"]),
  );
});

test("a key that no header can have is refused at once", async () => {
  for (const [name, key] of [
    ["PARLEY_FROM_KEY", "the-key-…"],
    ["PARLEY_KEY", "parley_sk_key\r"],
  ] as const) {
    const given = { ...env, [name]: key };
    const { code, stdout, stderr } = await runToEnd("cli/import", given, "rest", "--from", running.url);
    expect([code, stdout, stderr.split("\n", 1)[0]]).toEqual([
      1,
      "",
      "The key has a line break or another character that no key has, such as …: copy the whole key again.",
    ]);
  }
});

describe("an answer", () => {
  /** The address of a service that answers in this way. */
  async function serving(answer: (res: ServerResponse) => unknown): Promise<string> {
    const server = createServer((_, res) => void answer(res));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    afterTests(() => (server.closeAllConnections(), server.close()));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test.each<[string, (res: ServerResponse) => unknown]>([
    [
      "never ends",
      (res) => {
        const more = () => {
          while (res.write(Buffer.alloc(65_536)));
          res.once("drain", more);
        };
        more();
      },
    ],
    [
      "expands to more than it may have",
      (res) => res.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync(Buffer.alloc(5_000_000))),
    ],
  ])("that %s is refused, and not read into memory", async (_, answer) => {
    const url = await serving(answer);
    const http = new Http({ name: "The source", headers: {}, patienceMs: 0, say: () => undefined });
    await expect(http.send(url, { mostBytes: 2 * 1024 * 1024 })).rejects.toMatchObject({
      ...{ constructor: RefusedError, message: `The source at ${url} answers with more than 2 MiB.` },
    });
  });

  test("of many bytes has more time, and one of few bytes does not", async () => {
    const timeoutMs = 500;
    const parts = (bytes: number) => (res: ServerResponse) => {
      res.write(Buffer.alloc(bytes));
      setTimeout(() => res.end("."), 3 * timeoutMs);
    };
    const sent = { method: "GET", headers: {}, timeoutMs, mostBytes: Infinity } as const;
    const { body } = await request(await serving(parts(1_000_000)), sent);
    expect(body).toHaveLength(1_000_001);
    await expect(request(await serving(parts(10)), sent)).rejects.toThrow("takes too long");
  });
});

test.each([1, 2, 4, 8, 11, 12, 13, 14])(
  "stops if the source refuses the key after %d requests, and continues with another key",
  async (accepted) => {
    const id = `stopped-${accepted}`;
    const path = `/rest/v1/assistants/${id}`;
    const item = { id: `log-${accepted}`, type: "TEXT", createdAt: "2023-01-01T00:00:00Z" };
    const answers = {
      "/rest/v1/organization": { id: "9" },
      "/rest/v1/assistants?order=asc&page=1&take=100": page([{ id, name: "Stopped" }]),
      ...Object.fromEntries(["voice", "sms", "chat"].map((kind) => [`${path}/${kind}`, { prompt: "Kept." }])),
      [`${path}/theme`]: { theme: { title: "Kept" } },
      "/rest/v1/organization/keys": [],
      "/rest/v1/settings": [],
      "/rest/v1/files?order=asc&page=1&take=100": page([]),
      [`${path}/logs?order=asc&page=1&take=100`]: [item],
      [`${path}/log/${item.id}`]: { ...item, messages: [] },
    };
    const stopped = await importFrom(answers, accepted);
    expect([stopped.code, stopped.stdout]).toEqual([1, expect.not.stringContaining("was not read")]);
    expect(stopped.stderr).toContain("with status 401 (no). Check --from-key or PARLEY_FROM_KEY");
    const isImported = (await api.request("GET", path)).status === 200;
    if (isImported) expect((await api.get(`${path}/voice`, 200)).prompt).toBe("Kept.");
    if (isImported) expect(stopped.stderr).toContain("Then this command continues:");

    expect(await importFrom(answers)).toMatchObject({ code: 0, stderr: "" });
    for (const kind of ["voice", "sms", "chat"])
      expect((await api.get(`${path}/${kind}`, 200)).prompt).toBe("Kept.");
    expect(await api.get(`${path}/logs`, 200)).toMatchObject([{ id: item.id }]);
  },
  SERVER_TIMEOUT_MS,
);
