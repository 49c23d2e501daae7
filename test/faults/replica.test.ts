import { beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import type { Api } from "../support/api";
import { SECRET_KEY } from "../support/config";
import { statement } from "../support/database";
import { endChat, newAssistant, newChat, quietAssistant, say } from "../support/factories";
import { query } from "../support/installation";
import { hasPgBouncer, startPgBouncer } from "../support/pgbouncer";
import { proxyTo, type Proxy } from "../support/proxy";
import { samplesOf, valueOf } from "../support/metrics";
import { Receiver } from "../support/receiver";
import {
  afterTest,
  afterTests,
  emptyFolder,
  runToEnd,
  SETTINGS,
  startServer,
  type Env,
  type ServerProcess,
} from "../support/server";
import { hasSystemPostgres, SystemPostgres } from "../support/standby";
import { Subscriber } from "../support/subscriber";
import { until } from "../support/until";

let primary: SystemPostgres;
let standby: SystemPostgres;
let proxy: Proxy;
let env: Env;
let one: ServerProcess;
let other: ServerProcess;
/** An organization that writes nothing after its first assistant. */
let calm: Api;

async function prepareWorld(): Promise<void> {
  primary = await SystemPostgres.primary();
  afterTests(() => primary.remove());
  await statement(primary.url("postgres"), "create database parley");
  standby = await primary.replica();
  afterTests(() => standby.remove());
  proxy = await proxyTo(primary.url("parley"));
  afterTests(() => proxy.stop());
  env = {
    ...SETTINGS,
    DATABASE_URL: proxy.url,
    DATABASE_REPLICA_URL: standby.url("parley"),
    OUTBOUND_ALLOW: "127.0.0.1",
    TAKEOVER_SECONDS: "4",
    DATA_DIR: emptyFolder(afterTests),
  };
  one = await startServer(env, afterTests);
  other = await startServer(env, afterTests);
  const { stdout } = await runToEnd("cli/org-create", env, "--name", "Calm");
  calm = one.api.as({ "X-API-Key": (JSON.parse(stdout) as { secretKey: string }).secretKey });
  await newAssistant(calm, { name: "Before" });
}

/** Lets the log of a server come further than those of the others. */
const FURTHER =
  "do $$ begin for n in 1..10 loop perform pg_logical_emit_message(false, '', ''), pg_switch_wal(); end loop; end $$";

/** Waits until the replica has everything that the primary has. */
async function caughtUp(origin = primary, copy = standby): Promise<void> {
  const [from, to] = [new pg.Client(origin.url("parley")), new pg.Client(copy.url("parley"))];
  await Promise.all([from.connect(), to.connect()]);
  const { rows } = await from.query<{ at: string }>("select pg_current_wal_insert_lsn() as at");
  await until(async () => {
    const here = await to.query<{ has: boolean }>("select pg_last_wal_replay_lsn() >= $1 as has", [
      rows[0]!.at,
    ]);
    return here.rows[0]!.has;
  });
  await Promise.all([from.end(), to.end()]);
}

const names = async (api: Api): Promise<string[]> =>
  ((await api.get("/rest/v1/assistants", 200)).data as { name: string }[]).map(({ name }) => name);

/** Changes the calm organization's assistant without the service, so that its name tells where a list was read. */
const rename = (name: string) =>
  statement(
    primary.url("parley"),
    `update assistants set name = '${name}' where name in ('Before', 'After')`,
  );

/** Stops the replica while the calm organization is read from it. Work in the background may write for it, too. */
const lag = () =>
  until(async () => {
    await standby.follow(true);
    await rename("Before");
    await caughtUp();
    await standby.follow(false);
    await rename("After");
    return (await names(calm))[0] === "Before";
  });

/** A metric of a server. */
const metric = async (name: string, labels?: Readonly<Record<string, string>>) =>
  valueOf(samplesOf((await one.api.request("GET", "/metrics")).text), name, labels);
const readsOf = (database: string) => metric("parley_replica_reads_total", { database });

/** Parameters of connections that poolers ignore. */
const POOLERS = hasPgBouncer() ? ["", "options"] : [];
/** The URL of the replica through PgBouncer. */
async function throughPooler(ignored: string): Promise<string> {
  const settings = { auth_type: "trust", ignore_startup_parameters: ignored };
  const pooler = await startPgBouncer(standby.url("postgres"), { parley: "" }, settings);
  afterTest(() => pooler.stop());
  return pooler.through(standby.url("parley"));
}

const describeReplica = hasSystemPostgres() ? describe : describe.skip;
if (!hasSystemPostgres()) test.todo("read from a replica: no PostgreSQL of the system is installed");

describeReplica("with a replica", () => {
  beforeAll(prepareWorld);

  test("lists come from the replica, and whoever writes reads it at once on every server", async () => {
    await lag();
    for (const [writer, reader] of [
      [one, other],
      [other, one],
    ] as const) {
      const name = `Written by ${writer.pid}`;
      const id = await newAssistant(writer.api, { name });
      expect(await names(reader.api)).toContain(name);
      await writer.api.patch(`/rest/v1/assistants/${id}`, { name: `${name}, renamed` }, 200);
      expect(await names(reader.api)).toContain(`${name}, renamed`);
      const chat = await newChat(writer.api, id);
      await endChat(writer.api, chat);
      const logs = await reader.api.get(`/rest/v1/assistants/${id}/logs`, 200);
      expect(JSON.stringify(logs)).toContain(chat);
      await writer.api.delete(`/rest/v1/assistants/${id}`, 200);
      expect(await names(reader.api)).not.toContain(`${name}, renamed`);
    }
    await standby.follow(true);
    await until(async () => (await names(calm))[0] === "After");
  });

  test("the start names the replica, and /metrics count who answers and show the lag", async () => {
    expect(one.stdout()).toMatch(/Replica +PostgreSQL at .*\/parley, for lists/);
    const before = (await readsOf("replica"))!;
    await names(calm);
    expect(await readsOf("replica")).toBe(before + 1);
    await until(async () => (await metric("parley_replica_lag_bytes")) === 0);
    await standby.follow(false);
    await statement(primary.url("parley"), FURTHER);
    await until(async () => (await metric("parley_replica_lag_bytes"))! > 0);
    await standby.follow(true);
  });

  test("while the replica is away, lists come from the primary", async () => {
    await standby.end("SIGKILL");
    const before = (await readsOf("primary"))!;
    expect(await names(calm)).toEqual(["After"]);
    expect(await names(one.api)).toEqual([]);
    expect(await readsOf("primary")).toBe(before + 2);
    await until(async () => (await metric("parley_replica_lag_bytes")) === undefined);
    await standby.start();
    await lag();
    await standby.follow(true);
    await until(async () => (await names(calm))[0] === "After");
    expect(one.stderr()).toMatch(
      /the replica of the database cannot be read[^]*the replica of the database is read again/,
    );
  });

  test.each<[name: string, code: number, url: () => string | Promise<string>, message: RegExp]>([
    // A fail-over may make it a replica.
    ["the primary itself", 1, () => primary.url("parley"), /not a streaming replica.*hot standby/],
    ["another database of the replica", 78, () => standby.url("postgres"), /names the database "postgres"/],
    ["another PostgreSQL", 78, () => process.env.TEST_POSTGRES!, /not a streaming replica.*hot standby/],
    ...POOLERS.map((ignored): [string, number, () => Promise<string>, RegExp] => [
      `a pooler (ignored parameters: '${ignored}')`,
      78,
      () => throughPooler(ignored),
      /This is a pooler.*set DATABASE_REPLICA_URL to the URL of PostgreSQL itself/,
    ]),
  ])("a start with %s as the replica ends with what to do", async (_, expected, url, message) => {
    const { code, stderr } = await runToEnd("main", { ...env, DATABASE_REPLICA_URL: await url() });
    expect([code, stderr]).toEqual([expected, expect.stringMatching(message)]);
  });

  test("after a fail-over to the replica, running servers continue: requests, subscriptions, jobs and deliveries", async () => {
    const receiver = await new Receiver().start();
    afterTests(() => receiver.stop());
    const { api } = other;
    await api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    const assistantId = await quietAssistant(api);
    const chatId = await newChat(api, assistantId);
    const subscriber = new Subscriber(other.url, { "X-API-Key": SECRET_KEY });
    afterTests(() => subscriber.close());
    void subscriber.watch(chatId);
    await caughtUp();

    proxy.leave();
    await primary.end("SIGKILL");
    expect((await one.api.request("GET", "/rest/v1/assistants")).status).toBe(503);
    standby.promote();
    proxy.comeBack(standby.url("parley"));

    await until(async () => (await one.api.request("GET", "/health/ready")).status === 200);
    await until(async () => (await other.api.request("GET", "/health/ready")).status === 200);
    expect(await names(one.api)).toEqual([expect.any(String)]);
    const id = await say(one.api, chatId, "Still there?", "USER");
    expect(id).toBeDefined();
    await until(async () => {
      const { chat } = (await other.api.gql(
        "query ($id: ID!) { chat(id: $id) { messages(last: 5) { role } } }",
        {
          id: chatId,
        },
      )) as { chat: { messages: { role: string }[] } };
      return chat.messages.at(-1)!.role === "ASSISTANT";
    });
    await receiver.until(2, ({ body }) => body.event === "conversation-updated");
    const name = "After the fail-over";
    await newAssistant(one.api, { name });
    expect(await names(other.api)).toContain(name);
  });

  test("a replica of another server that appears while the server runs is not read", async () => {
    const elsewhere = await SystemPostgres.primary();
    afterTest(() => elsewhere.remove());
    await statement(elsewhere.url("postgres"), "create database parley");
    const foreign = await elsewhere.replica();
    afterTest(() => foreign.remove());
    await statement(elsewhere.url("parley"), FURTHER);
    await caughtUp(elsewhere, foreign);
    const gate = await proxyTo(foreign.url("parley"));
    afterTest(() => gate.stop());
    gate.leave();
    const server = await startServer({ ...env, DATABASE_REPLICA_URL: gate.url });
    gate.comeBack();
    const ask = "select from pg_stat_activity where application_name like 'parley replica%'";
    await until(async () => {
      await names(server.api);
      return (await query(foreign.url("parley"), ask)).length > 0;
    });
    expect(await names(server.api)).toEqual(await names(other.api));
  });
});

describeReplica("with a replica that had more of the log than the promoted one", () => {
  test("its lists are not read, because they have what the fail-over lost and lack what came after it", async () => {
    const first = await SystemPostgres.primary();
    afterTest(() => first.remove());
    await statement(first.url("postgres"), "create database parley");
    const gate = await proxyTo(first.url("parley"));
    afterTest(() => gate.stop());
    const [behind, ahead] = [await first.replica(), await first.replica()];
    for (const one of [behind, ahead]) afterTest(() => one.remove());
    const server = await startServer({
      ...{ ...SETTINGS, DATA_DIR: emptyFolder() },
      ...{ DATABASE_URL: gate.url, DATABASE_REPLICA_URL: ahead.url("parley") },
    });
    await behind.end("SIGINT");
    await newAssistant(server.api, { name: "Lost" });
    await statement(first.url("parley"), FURTHER);
    await caughtUp(first, ahead);

    gate.leave();
    await first.end("SIGKILL");
    await behind.start();
    behind.promote();
    gate.comeBack(behind.url("parley"));
    await until(async () => (await server.api.request("GET", "/health/ready")).status === 200);
    await newAssistant(server.api, { name: "Afterwards" });
    await until(async () => {
      expect(await names(server.api)).toEqual(["Afterwards"]);
      return /is on timeline 1, but the primary on timeline 2/.test(server.stderr());
    });
  });
});
