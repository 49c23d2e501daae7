import { beforeAll, expect, test } from "@jest/globals";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { Api } from "../support/api";
import { statement } from "../support/database";
import {
  afterTest,
  afterTests,
  emptyDatabase,
  emptyFolder,
  type Env,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  runToEnd,
  type ServerProcess,
  SETTINGS,
  startServer,
} from "../support/server";
import { proxyTo, type Proxy } from "../support/proxy";
import { until } from "../support/until";

const { ENCRYPTION_KEYS } = SETTINGS;
/** Of one address in a minute: 10 × RATE_LIMIT_VISITOR. */
const POINTS = 300;
const POINTS_OF_SESSION = 3;
const WATCH = `subscription ($chatId: ID!, $after: ID) {
  chatEvents(chatId: $chatId, after: $after) { id name status message { sequence content } }
}`;

interface ChatEvent {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly message: { readonly sequence: number; readonly content: string } | null;
}

/** Collects a chat's events from one server. */
function watch(api: Api, chatId: string, after?: string): ChatEvent[] {
  const client = createClient({
    url: `${api.url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: api.headers,
  });
  afterTest(() => client.dispose());
  const events: ChatEvent[] = [];
  void (async () => {
    const answers = client.iterate<{ chatEvents: ChatEvent }>({ query: WATCH, variables: { chatId, after } });
    for await (const { data } of answers) events.push(data!.chatEvents);
  })().catch(() => undefined);
  return events;
}

const openChat = async (api: Api): Promise<string> => {
  const { id: assistantId } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  return (await api.gql(start, { input: { assistantId } })).startChat.id;
};
const say = (api: Api, aiChatId: string, content: string) =>
  api.post(
    "/rest/v1/ai-chats/messages",
    { aiChatId, role: "SYSTEM", channel: "TEXT", content, metadata: {} },
    201,
  );
const said = (events: readonly ChatEvent[]) => events.flatMap(({ message }) => message?.content ?? []);

/** Servers that start at the same time on an empty database: three, or ten with `TEST_LENGTH=long`. */
const SERVERS = process.env.TEST_LENGTH === "long" ? 10 : 3;
let servers: readonly ServerProcess[];
let env: Env;
/** Clients of all servers, with the same key. */
let apis: readonly Api[];
let one: Api;
let other: Api;
/** The way of the last server to the database. */
let proxy: Proxy;
beforeAll(async () => {
  env = {
    PORT: "0",
    ENCRYPTION_KEYS: ENCRYPTION_KEYS!,
    DATABASE_URL: await emptyDatabase(afterTests),
    DATA_DIR: emptyFolder(afterTests),
    TRUST_PROXY: "127.0.0.1", // the limits do not count clients on this machine
  };
  proxy = await proxyTo(env.DATABASE_URL!);
  afterTests(proxy.stop);
  const envs = Array.from({ length: SERVERS }, () => env);
  envs[SERVERS - 1] = { ...env, DATABASE_URL: proxy.url };
  servers = await Promise.all(envs.map((env) => startServer(env, afterTests)));
  const secret = servers.flatMap(secretOf)[0]!;
  apis = servers.map(({ url }) => new Api(url, { "X-API-Key": secret }));
  [one, other] = apis as [Api, Api];
}, 2 * SERVER_TIMEOUT_MS);

const secretOf = (server: ServerProcess) => /SECRET +(\S+)/.exec(server.stdout())?.[1] ?? [];

test(
  "servers that start at once on an empty database all become ready, and only one prints the keys",
  async () => {
    const [secret, ...more] = servers.flatMap(secretOf);
    expect(more).toEqual([]);
    const organizations = servers.map(async ({ url }) => {
      const api = new Api(url, { "X-API-Key": secret! });
      expect(await api.get("/health/ready", 200)).toMatchObject({ status: "ok" });
      expect((await api.get("/rest/v1/assistants/templates", 200)).meta.itemCount).toBe(6);
      return (await api.get("/rest/v1/organization", 200)).id as string;
    });
    expect(new Set(await Promise.all(organizations)).size).toBe(1);
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "servers on one database see each other's messages and the end of a chat, in order, and readers can resume",
  async () => {
    const chatId = await openChat(one);
    const here = watch(one, chatId);
    const there = watch(other, chatId);
    // A subscription starts some time after its request; it misses earlier messages.
    let openings = 0;
    await until(async () => {
      await say(one, chatId, `opening ${++openings}`);
      return here.length > 0 && there.length > 0;
    });

    for (const word of ["one", "two", "three"]) await say(one, chatId, word);
    for (const word of ["four", "five"]) await say(other, chatId, word);
    for (const events of [here, there]) {
      await until(() => said(events).includes("five"));
      expect(said(events).slice(-5)).toEqual(["one", "two", "three", "four", "five"]);
      const sequences = events.map(({ message }) => message!.sequence);
      expect(sequences).toEqual(sequences.map((_, index) => sequences[0]! + index));
    }

    const after = there.find(({ message }) => message?.content === "three")!.id;
    const resumed = watch(other, chatId, after);
    await other.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id: chatId });
    for (const events of [here, there, resumed]) {
      await until(() => events.at(-1)?.name === "status-changed");
      expect(events.at(-1)).toMatchObject({ status: "ended", message: null });
    }
    expect(said(resumed)).toEqual(["four", "five"]);
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "a key deactivated on one server is refused by the others",
  async () => {
    const { id, value } = await one.post("/rest/v1/organization/keys", {}, 200);
    const guests = apis.map((api) => api.as({ "X-API-Key": value }));
    const answered = async (wanted: number) => {
      for (const guest of guests)
        await until(async () => (await guest.request("GET", "/rest/v1/assistants")).status === wanted);
    };
    await answered(200); // cached now
    await one.patch(`/rest/v1/organization/keys/${id}`, { status: "INACTIVE" }, 200);
    await answered(401);
    await one.patch(`/rest/v1/organization/keys/${id}`, { status: "ACTIVE" }, 200);
    await answered(200);
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "each question is answered once, whichever server is asked",
  async () => {
    const chats = await Promise.all(Array.from({ length: 2 * SERVERS }, () => openChat(one)));
    const ask = async (aiChatId: string, number: number) => {
      const question = { aiChatId, role: "USER", channel: "TEXT", content: "Hello?", metadata: {} };
      await apis[number % SERVERS]!.post("/rest/v1/ai-chats/messages", question, 201);
    };
    await Promise.all(chats.map(ask));
    const roles = async (id: string) => {
      const { chat } = await other.gql("query ($id: ID!) { chat(id: $id) { messages(last: 9) { role } } }", {
        id,
      });
      return (chat.messages as { role: string }[]).map(({ role }) => role);
    };
    for (const id of chats) {
      await until(async () => (await roles(id)).at(-1) === "ASSISTANT" && (await roles(id)).includes("USER"));
      await other.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id });
      const answers = (await roles(id)).slice((await roles(id)).indexOf("USER"));
      expect(answers).toEqual(["USER", "ASSISTANT"]);
    }
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "a limit that a client has used up on one server holds on the others",
  async () => {
    const publicKey = /PUBLIC +(\S+)/.exec(servers.map((server) => server.stdout()).join())![1]!;
    const { id: assistantId } = await one.post("/rest/v1/assistants", { name: "Ada" }, 200);
    const begin = "mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { token } }";
    const start = async (api: Api, address: string) => {
      const guest = api.as({ "X-API-Key": publicKey, "X-Forwarded-For": address });
      const { body, headers } = await guest.request("POST", "/graphql", {
        query: begin,
        variables: { input: { assistantId } },
      });
      const [, left] = /"address";r=(\d+)/.exec(headers.get("RateLimit")!)!;
      return { refused: JSON.stringify(body).includes("RATE_LIMITED"), left: Number(left) };
    };
    const client = "203.0.113.7";
    let admitted = 0;
    while (!(await start(one, client)).refused) admitted++;
    expect(admitted).toBe(POINTS / POINTS_OF_SESSION);
    for (const [index, api] of apis.entries()) {
      if (api === one) continue;
      // A server tells the others ten times a second, in order: one that knows of a later client knows of this one.
      const later = `198.51.100.${index}`;
      for (let session = 0; session < 2; session++) await start(one, later); // it keeps a single one to itself
      let own = 0;
      await until(async () => (await start(api, later)).left < POINTS - POINTS_OF_SESSION * ++own);
      expect((await start(api, client)).refused).toBe(true);
    }
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "messages of a server that was killed before it could notify the others reach their readers, in order and once",
  async () => {
    const chatId = await openChat(one);
    const readers = [one, other].map((api) => watch(api, chatId, chatId));
    await say(one, chatId, "opening");
    await until(() => readers.every((events) => said(events).includes("opening")));
    proxy.hang("parley listener");
    for (const word of ["one", "two", "three"]) await say(apis.at(-1)!, chatId, word);
    await servers.at(-1)!.end("SIGKILL");
    for (const events of readers) {
      await until(() => said(events).includes("three"));
      expect(said(events).slice(-4)).toEqual(["opening", "one", "two", "three"]);
    }
    await say(other, chatId, "four");
    for (const events of readers) {
      await until(() => said(events).includes("four"));
      expect(said(events).slice(-2)).toEqual(["three", "four"]);
    }
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "org:create while a server runs creates an organization and prints one line of JSON",
  async () => {
    const { code, stdout } = await runToEnd("cli/org-create", env, "--name", "Beside");
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    const made = JSON.parse(stdout) as Record<string, string>;
    expect(Object.keys(made)).toEqual(["organizationId", "secretKey", "publicKey"]);
    const theirs = one.as({ "X-API-Key": made.secretKey! });
    expect(await theirs.get("/rest/v1/organization", 200)).toMatchObject({ id: made.organizationId });
    expect((await one.get("/rest/v1/organization", 200)).id).not.toBe(made.organizationId);
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "key:create replaces a lost key, also of another organization, and reports an unknown one",
  async () => {
    const made = JSON.parse((await runToEnd("cli/key-create", env)).stdout) as Record<string, string>;
    expect(made).toMatchObject({
      type: "SECRET",
      organizationId: (await one.get("/rest/v1/organization", 200)).id,
    });
    await one.as({ "X-API-Key": made.value! }).get("/rest/v1/organization/keys", 200);
    const options = ["--organization", made.organizationId!, "--type", "PUBLIC"];
    expect(JSON.parse((await runToEnd("cli/key-create", env, ...options)).stdout)).toMatchObject({
      type: "PUBLIC",
    });
    const limits = ["--import", "--permissions", "read", "--name", "Importer"];
    const importer = JSON.parse((await runToEnd("cli/key-create", env, ...limits)).stdout);
    const shown = await one.get(`/rest/v1/organization/keys/${importer.keyId}`, 200);
    expect(shown).toMatchObject({ name: "Importer", permissions: ["read", "import"] });
    const { code, stderr } = await runToEnd("cli/key-create", env, "--organization", "nobody");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^Database: .*\nNo organization with id "nobody"\.\n$/),
    });
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "a start warns of running jobs only if their server has gone; those of a running server are as usual",
  async () => {
    const DATABASE_URL = await preparedDatabase();
    const env = { ...SETTINGS, DATABASE_URL, LOG_LEVEL: "info" };
    const first = await startServer(env);
    await statement(DATABASE_URL, "insert into worker_heartbeats (worker_id) values ('of the first')");
    await statement(
      DATABASE_URL,
      "insert into begun_jobs (task, payload, worker) values ('nothing', '{}', 'of the first')",
    );
    const USUAL = "other servers run jobs, as usual";
    const GONE = "jobs of another server have not ended";
    const told = ({ stderr }: ServerProcess) => [USUAL, GONE].filter((text) => stderr().includes(text));
    const second = await startServer(env);
    expect(told(second)).toEqual([USUAL]);
    const seen =
      "update worker_heartbeats set seen_at = now() - interval '40 seconds' where worker_id = 'of the first'";
    await statement(DATABASE_URL, seen);
    const third = await startServer(env);
    expect(told(third)).toEqual([GONE]);
    await statement(DATABASE_URL, "update worker_heartbeats set seen_at = now()");
    await Promise.all([first, second, third].map((server) => server.end("SIGKILL")));
    expect(told(await startServer(env))).toEqual([GONE]);
  },
  4 * SERVER_TIMEOUT_MS,
);
