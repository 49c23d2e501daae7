import { beforeAll, describe, expect, test } from "@jest/globals";
import { type EmbeddedDatabase, startEmbedded } from "../../src/platform/database/embedded/embedded";
import type { Answer } from "../support/api";
import { statement } from "../support/database";
import { newChat } from "../support/factories";
import { samplesOf, valueOf } from "../support/metrics";
import { type Proxy, proxyTo } from "../support/proxy";
import {
  afterTest,
  afterTests,
  emptyDatabase,
  emptyFolder,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  type ServerProcess,
  SETTINGS,
  startServer,
} from "../support/server";
import { until } from "../support/until";

interface OwnDatabase {
  readonly url: string;
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

/** A PostgreSQL for these tests only, which they may stop. */
async function ownDatabase(): Promise<OwnDatabase> {
  const dataDir = emptyFolder(afterTests);
  const start = () => startEmbedded({ dataDir, log: () => undefined, flags: ["fsync=off"] });
  let database: EmbeddedDatabase = await start();
  afterTests(() => database.stop());
  return {
    url: database.url,
    leave: () => database.stop(),
    comeBack: async () => void (database = await start()),
  };
}

/** Starts a proxy to a database for the test. */
async function throughProxy(url: string): Promise<Proxy> {
  const proxy = await proxyTo(url);
  afterTest(proxy.stop);
  return proxy;
}

const seen = ({ status, headers, body }: Answer) => ({
  status,
  code: body.code,
  retryAfter: headers.get("Retry-After"),
});
const AWAY = { status: 503, code: "UNAVAILABLE", retryAfter: "2" };

/** Fields that objects of pg and knex hold, and that no line may contain. */
const INTERNALS = /secretKey|connectionParameters|processID|bindings|_events/;

/** Everything after the welcome is JSON lines without internals of libraries, and no message repeats within a minute. */
function expectLogToBeBrief(server: ServerProcess): void {
  expect(
    server
      .stdout()
      .split("Try it:")[1]!
      .split("\n")
      .filter((line) => /error|select/i.test(line)),
  ).toEqual([]);
  const lines = server
    .stderr()
    .split("\n")
    .filter((line) => line !== "");
  for (const line of lines) {
    expect(line).toMatch(/^{"level":\d+,/);
    expect(line).not.toMatch(INTERNALS);
  }
  type Line = { time: number; msg: string; err?: { code?: string } };
  const failures = lines.map((line) => JSON.parse(line) as Line).filter(({ err }) => err !== undefined);
  expect(failures).not.toEqual([]);
  const known = new Map<string, number>();
  for (const { time, msg, err } of failures) {
    const kind = `${msg} ${err!.code}`;
    expect({ kind, pause: time - (known.get(kind) ?? 0) >= 59_000 }).toEqual({ kind, pause: true });
    known.set(kind, time);
  }
}

describe("a server and its database", () => {
  let database: OwnDatabase;
  let server: ServerProcess;
  beforeAll(async () => {
    database = await ownDatabase();
    server = await startServer({ ...SETTINGS, DATABASE_URL: database.url }, afterTests);
  }, 2 * SERVER_TIMEOUT_MS);

  test(
    "while the database is unavailable, requests get errors and nothing exits; afterwards everything resumes",
    async () => {
      const { api } = server;
      const { id } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
      for (let round = 0; round < 2; round++) {
        await database.leave();
        const paths = [
          `/rest/v1/assistants/${id}`,
          "/rest/v1/assistants",
          "/rest/v1/files",
          "/rest/v1/settings",
        ];
        const reads = [...paths, ...paths, ...paths].map((path) => api.request("GET", path));
        for (const answer of await Promise.all(reads)) expect(seen(answer)).toEqual(AWAY);
        expect(seen(await api.request("POST", "/rest/v1/assistants", { name: "Bea" }))).toEqual(AWAY);
        expect(seen(await api.request("POST", "/graphql", { query: "{ organization { id } }" }))).toEqual(
          AWAY,
        );
        const unknown = api.as({ "X-API-Key": "a key that nobody has ever seen" });
        expect(seen(await unknown.request("GET", "/rest/v1/assistants"))).toEqual(AWAY);
        expect((await api.request("GET", "/health/live")).status).toBe(200);
        expect(await api.get("/health/ready", 503)).toMatchObject({
          status: "unavailable",
          database: "unreachable",
          files: "unknown",
          fileHandles: "ok",
        });
        const metrics = samplesOf((await api.request("GET", "/metrics")).text);
        expect(valueOf(metrics, "parley_database_up")).toBe(0);
        expect(valueOf(metrics, "parley_events_unsequenced")).toBeUndefined();

        // It is away for longer than the pause before the first attempt to connect again.
        await until(() => server.stderr().includes("PostgreSQL does not answer"));
        await database.comeBack();
        await until(async () => (await api.request("GET", `/rest/v1/assistants/${id}`)).status === 200);
        await api.post("/rest/v1/assistants", { name: `Round ${round}` }, 200);
        await until(async () => (await api.request("GET", "/health/ready")).status === 200);
      }
      expect((await api.get("/rest/v1/assistants", 200)).meta.itemCount).toBe(3);
      expectLogToBeBrief(server);
      await until(() => server.stderr().includes("PostgreSQL answers again"));
      // The second time within a minute adds no lines.
      expect(server.stderr().match(/PostgreSQL (does not answer|answers again)/g)).toHaveLength(2);
    },
    3 * SERVER_TIMEOUT_MS,
  );

  test(
    "a key deactivated elsewhere while the database was unavailable is refused afterwards",
    async () => {
      const { id, value } = await server.api.post("/rest/v1/organization/keys", {}, 200);
      const guest = server.api.as({ "X-API-Key": value });
      await guest.get("/rest/v1/assistants", 200);
      await database.leave();
      await database.comeBack();
      const other = await startServer({ ...SETTINGS, DATABASE_URL: database.url });
      await other.api.patch(`/rest/v1/organization/keys/${id}`, { status: "INACTIVE" }, 200);
      await until(async () => (await guest.request("GET", "/rest/v1/assistants")).status === 401);
    },
    3 * SERVER_TIMEOUT_MS,
  );

  test(
    "writes interrupted by the end of the database get 503, and acknowledged ones are stored",
    async () => {
      const { api } = server;
      const acknowledged: string[] = [];
      const refused: unknown[] = [];
      const write = async (writer: number) => {
        for (let number = 0; refused.length < 50; number++) {
          const answer = await api.request("POST", "/rest/v1/assistants", { name: `${writer}.${number}` });
          if (answer.status === 200) acknowledged.push(answer.body.id);
          else refused.push(seen(answer));
        }
      };
      const writing = Promise.all([0, 1, 2, 3].map(write));
      await until(() => acknowledged.length > 100);
      await database.leave();
      await writing;
      for (const answer of refused) expect(answer).toEqual(AWAY);
      await database.comeBack();
      await until(async () => (await api.request("GET", "/rest/v1/assistants")).status === 200);
      for (const id of acknowledged) await api.get(`/rest/v1/assistants/${id}`, 200);
      // The server has survived all of it.
      expect(await server.end("SIGTERM")).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/\nParley has stopped\.\n$/),
      });
    },
    3 * SERVER_TIMEOUT_MS,
  );
});

test(
  "while the database hangs, requests get errors in time; afterwards everything resumes",
  async () => {
    const proxy = await throughProxy(await preparedDatabase());
    const { api } = await startServer({ ...SETTINGS, DATABASE_URL: proxy.url, DATABASE_POOL: "2" });
    const { id } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    proxy.hang();
    const paths = [
      `/rest/v1/assistants/${id}`,
      "/rest/v1/assistants",
      "/rest/v1/files",
      "/rest/v1/organization/keys",
    ];
    for (const answer of await Promise.all(paths.map((path) => api.request("GET", path))))
      expect(seen(answer)).toEqual(AWAY);
    expect(await api.get("/health/ready", 503)).toMatchObject({
      status: "unavailable",
      database: "unreachable",
      files: "unknown",
      fileHandles: "ok",
    });
    expect((await api.request("GET", "/health/live")).status).toBe(200);
    proxy.goOn();
    await until(async () => (await api.request("GET", `/rest/v1/assistants/${id}`)).status === 200);
    await api.post("/rest/v1/assistants", { name: "Bea" }, 200);
  },
  3 * SERVER_TIMEOUT_MS,
);

/** A role that owns a new database, with its URL. */
async function ownRole(): Promise<{ readonly role: string; readonly url: string }> {
  const role = `role_${Math.random().toString(36).slice(2)}`;
  const postgres = process.env.TEST_POSTGRES!;
  await statement(postgres, `create role ${role} login password 'first'`);
  afterTest(() => statement(postgres, `drop role ${role}`));
  const url = new URL(await emptyDatabase());
  await statement(postgres, `alter database ${url.pathname.slice(1)} owner to ${role}`);
  return { role, url: Object.assign(url, { username: role, password: "first" }).href };
}

test(
  "while PostgreSQL refuses the password, requests get 503; afterwards everything resumes",
  async () => {
    const { role, url } = await ownRole();
    const { api } = await startServer({ ...SETTINGS, DATABASE_URL: url });
    const { id } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    const rotate = async (password: string) => {
      const postgres = process.env.TEST_POSTGRES!;
      // Not in one transaction: the server would connect again with the former password before it commits.
      await statement(postgres, `alter role ${role} password '${password}'`);
      await statement(
        postgres,
        `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`,
      );
    };
    await rotate("second");
    const paths = [`/rest/v1/assistants/${id}`, "/rest/v1/assistants", "/rest/v1/files", "/rest/v1/settings"];
    for (const path of paths) expect(seen(await api.request("GET", path))).toEqual(AWAY);
    expect(await api.get("/health/ready", 503)).toMatchObject({ database: "unreachable" });
    await rotate("first");
    await until(async () => (await api.request("GET", `/rest/v1/assistants/${id}`)).status === 200);
    const chatId = await newChat(api, id);
    const body = { aiChatId: chatId, role: "USER", channel: "TEXT", content: "Hello?", metadata: {} };
    const { reply } = await api.post("/rest/v1/ai-chats/messages?wait=true", body, 201);
    expect(reply).toMatchObject({ role: "ASSISTANT" });
  },
  3 * SERVER_TIMEOUT_MS,
);
