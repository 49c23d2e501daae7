import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import pino from "pino";
import { connect } from "../../src/platform/database/connections/connect";
import { openClient } from "../../src/platform/database/connections/open-client";
import { Silence } from "../../src/platform/database/connections/silence";
import { Listener } from "../../src/platform/database/notifications/listener";
import { publicError } from "../../src/platform/errors";
import { openJobPool } from "../../src/platform/jobs/job-pool/job-pool";
import { newAssistant, newChat, say } from "../support/factories";
import { proxyTo } from "../support/proxy";
import { Receiver } from "../support/receiver";
import { afterTest, preparedDatabase, SERVER_TIMEOUT_MS, SETTINGS, startServer } from "../support/server";
import { until } from "../support/until";

const { limitMs } = Silence;
afterEach(() => void (Silence.limitMs = limitMs));

/** A way to a database. `lose` makes its connections silent for ever, as a firewall does that forgets them. New ones work. */
async function wayTo(url: string) {
  const proxy = await proxyTo(url);
  afterTest(proxy.stop);
  return { url: proxy.url, lose: () => proxy.hang("") };
}

test(
  "a database connection that stops answering is abandoned, and the next statement uses a new one",
  async () => {
    const way = await wayTo(process.env.TEST_POSTGRES!);
    const db = connect(way.url, { pool: 1 });
    afterTest(() => db.destroy());
    await db.raw("select 1");
    way.lose();
    const error: unknown = await db.raw("select 2").then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(publicError(error as Error)).toMatchObject({ code: "UNAVAILABLE" });
    expect((await db.raw("select 3 as three")).rows).toEqual([{ three: 3 }]);
  },
  2 * SERVER_TIMEOUT_MS,
);

test("a connection of jobs that stops answering is abandoned, and the next statement uses a new one", async () => {
  Silence.limitMs = 200;
  const way = await wayTo(process.env.TEST_POSTGRES!);
  const pool = openJobPool(way.url, pino({ level: "silent" }));
  afterTest(() => pool.end());
  await pool.query("select 1");
  way.lose();
  await expect(pool.query("select 2")).rejects.toThrow("terminated");
  expect((await pool.query("select 3 as three")).rows).toEqual([{ three: 3 }]);
});

test("a silent connection that works is kept, whether it is idle or its statement takes long", async () => {
  Silence.limitMs = 200;
  const pool = openJobPool(process.env.TEST_POSTGRES!, pino({ level: "silent" }));
  afterTest(() => pool.end());
  const identify = async () => (await pool.query<{ pid: number }>("select pg_backend_pid() as pid")).rows;
  const before = await identify();
  await pool.query("select pg_sleep(0.3)");
  await new Promise((resolve) => setTimeout(resolve, 5 * Silence.limitMs));
  expect(await identify()).toEqual(before);
});

/** Whether the system probes an idle connection: its timer is that of keep-alive packets. */
function isProbed({ localPort }: Socket): boolean {
  const port = localPort!.toString(16).toUpperCase().padStart(4, "0");
  const lines = ["tcp", "tcp6"].flatMap((name) => readFileSync(`/proc/net/${name}`, "utf8").split("\n"));
  return lines.some((line) => new RegExp(`^ *\\d+: [0-9A-F]+:${port} \\S+ 01 \\S+ 02:`).test(line));
}

test("a command's connection is probed while its statement takes long, so that firewalls do not forget it", async () => {
  const client = await openClient(process.env.TEST_POSTGRES!, "parley test");
  afterTest(() => client.end());
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  await until(() => isProbed(stream));
});

test("a server whose connection for notifications was lost without a word hears the others again", async () => {
  Silence.limitMs = 200;
  const way = await wayTo(process.env.TEST_POSTGRES!);
  const [near, other] = [way.url, process.env.TEST_POSTGRES!].map((url) => new Listener(url, ["test"]));
  for (const listener of [near!, other!]) {
    await listener.start();
    afterTest(() => listener.stop());
  }
  const heard: unknown[] = [];
  near!.on("test", (ids) => heard.push(ids));
  way.lose();
  await new Promise<void>((resolve) => near!.onRenewed(resolve));
  other!.send("test", { id: "1" });
  await until(() => heard.length > 0);
  expect(heard).toEqual([{ id: "1" }]);
});

test(
  "a server whose connections to the database were all lost without a word runs jobs again, and refuses ended keys",
  async () => {
    const url = await preparedDatabase();
    const way = await wayTo(url);
    const receiver = await new Receiver().start();
    afterTest(() => receiver.stop());
    const settings = { ...SETTINGS, OUTBOUND_ALLOW: "127.0.0.0/8" };
    const server = await startServer({ ...settings, DATABASE_URL: way.url });
    const { api: other } = await startServer({ ...settings, DATABASE_URL: url, WORKER: "off" });
    const assistantId = await newAssistant(other, { name: "Ada" });
    await other.gql(
      "mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }",
      {
        input: { url: receiver.url, secret: "a secret" },
      },
    );
    const key = await other.post("/rest/v1/organization/keys", {}, 200);
    const limited = server.api.as({ "X-API-Key": key.value });
    await limited.get("/rest/v1/assistants", 200);

    way.lose();
    await other.delete(`/rest/v1/organization/keys/${key.id}`, 200);
    const chatId = await newChat(other, assistantId);
    await say(other, chatId, "Is anybody there?");
    await receiver.until(1, ({ text }) => text.includes("Is anybody there?"));
    await until(async () => (await limited.request("GET", "/rest/v1/assistants")).status === 401);
  },
  2 * SERVER_TIMEOUT_MS,
);
