import { afterEach, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { useApp } from "../support/app";
import { someoneWaits } from "../support/database";
import { newChat, quietAssistant, say } from "../support/factories";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";
import { talk } from "../support/talk";

const running = useApp({ WORKER: "on", WEBHOOK_TIMEOUT_SECONDS: "2" });

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A receiver, and the id of its destination. */
async function destination(...reply: ConstructorParameters<typeof Receiver>) {
  const receiver = await new Receiver(...reply).start();
  stops.push(() => receiver.stop());
  const { id } = await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
  stops.push(() => running.api.delete(`/rest/v1/settings/${id}`, 200));
  return { receiver, id: id as string };
}

interface Attempt {
  readonly number: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly startedAt: string;
  readonly durationMs: number;
}
interface Delivery {
  readonly status: string;
  readonly nextAttemptAt: string;
  readonly attempts: readonly Attempt[];
}

const DELIVERIES = `{ webhookDestinations { id deliveries(first: 50) {
  nodes { status nextAttemptAt attempts { number status error answer startedAt durationMs } event { name } } } } }`;

/** The delivery of a new chat's first event, once it has been tried. */
async function tried(id: string): Promise<Delivery> {
  await newChat(running.api, await quietAssistant(running.api));
  return until(async () => {
    const { webhookDestinations } = (await running.api.gql(DELIVERIES)) as {
      webhookDestinations: {
        id: string;
        deliveries: { nodes: (Delivery & { event: { name: string } })[] };
      }[];
    };
    const { nodes } = webhookDestinations.find((one) => one.id === id)!.deliveries;
    const delivery = nodes.find(({ event }) => event.name === "session-start");
    return delivery && delivery.attempts.length > 0 && delivery;
  });
}

/** Seconds from the end of the last try to the next one. */
function pause({ nextAttemptAt, attempts }: Delivery): number {
  const { startedAt, durationMs } = attempts.at(-1)!;
  return (Date.parse(nextAttemptAt) - Date.parse(startedAt) - durationMs) / 1_000;
}

/** The first pause of the schedule: five seconds, ± 10 %, plus the time for recording the try. */
function expectRetry(delivery: Delivery): void {
  expect(delivery.status).toBe("PENDING");
  expect(pause(delivery)).toBeGreaterThan(4.4);
  expect(pause(delivery)).toBeLessThan(5.6);
}

describe("the result of an attempt is recorded, and the attempt repeated by schedule, if a receiver", () => {
  test.each([400, 404, 500, 503])("answers %i", async (status) => {
    const { id } = await destination((res) => void res.writeHead(status).end("Not today."));
    const delivery = await tried(id);
    expect(delivery.attempts).toMatchObject([{ number: 1, status, error: null, answer: "Not today." }]);
    expectRetry(delivery);
  });

  test("never answers", async () => {
    const { id } = await destination(() => undefined);
    const delivery = await tried(id);
    expect(delivery.attempts).toMatchObject([{ status: null, error: "No answer in time.", answer: null }]);
    expectRetry(delivery);
  });

  test("answers 200 and then sends a byte now and then, beyond the total time limit", async () => {
    const { id } = await destination((res) => {
      res.writeHead(200);
      const timer = setInterval(() => res.write("."), 200);
      res.on("close", () => clearInterval(timer));
    });
    const delivery = await tried(id);
    expect(delivery.attempts).toMatchObject([{ status: null, error: "No answer in time.", answer: null }]);
    expectRetry(delivery);
  });

  test("closes the connection", async () => {
    const { id } = await destination((res) => void res.socket!.resetAndDestroy());
    const delivery = await tried(id);
    expect(delivery.attempts).toMatchObject([{ status: null, answer: null }]);
    expect(delivery.attempts[0]!.error).toContain("The connection failed");
    expectRetry(delivery);
  });

  test("is down", async () => {
    const { id, receiver } = await destination();
    await receiver.stop();
    stops.splice(0, 1); // it is stopped
    const delivery = await tried(id);
    expect(delivery.attempts[0]!.error).toBe("The connection failed (ECONNREFUSED).");
    expectRetry(delivery);
  });

  test.each([301, 302, 303, 307, 308])("redirects with %i, which is not followed", async (status) => {
    const elsewhere = await new Receiver().start();
    stops.push(() => elsewhere.stop());
    const { id } = await destination((res) => void res.writeHead(status, { location: elsewhere.url }).end());
    const delivery = await tried(id);
    expect(delivery.attempts).toMatchObject([{ number: 1, status, error: null }]);
    expectRetry(delivery);
    expect(elsewhere.received).toEqual([]);
  });

  test("asks for more time, in seconds or as a date, up to an hour", async () => {
    const asking = (value: () => string) =>
      destination((res) => void res.writeHead(429, { "retry-after": value() }).end());
    const wants = [
      await asking(() => "120"),
      await asking(() => new Date(Date.now() + 600_000).toUTCString()),
      await asking(() => "100000"),
      await asking(() => "soon"),
    ];
    const first = await tried(wants[0]!.id);
    expect(first).toMatchObject({ status: "PENDING", attempts: [{ status: 429 }] });
    expect(Math.round(pause(first) / 10)).toBe(12);
    expect(Math.round(pause(await tried(wants[1]!.id)) / 10)).toBe(60);
    expect(Math.round(pause(await tried(wants[2]!.id)) / 10)).toBe(360);
    expectRetry(await tried(wants[3]!.id));
  });
});

test("no transaction is open during requests to receivers, models and functions", async () => {
  const hanging = await destination(() => undefined);
  const functions = [{ name: "look", serverUrl: hanging.receiver.url }];
  const call = { call: "look", arguments: "{}" };
  const thinking = await talk(running, [{ text: ["Never", "."], held: new Promise(() => undefined) }]);
  stops.push(thinking.model.stop);
  await say(running.api, thinking.chatId, "Hello", "USER");
  await until(() => thinking.model.asked.length > 0);
  const calling = await talk(running, [call], { configuration: { functions } });
  stops.push(calling.model.stop);
  await say(running.api, calling.chatId, "Look", "USER");
  await hanging.receiver.until(1, ({ body }) => "function" in body);
  expect(hanging.receiver.received.some(({ body }) => "event" in body)).toBe(true);
  const [now] = await running.database.query<{ at: string }>("select clock_timestamp()::text as at");
  // All of them hang by now. A transaction held open by one of them would not end.
  await until(async () => {
    const open = await running.database.query(
      `select query from pg_stat_activity
       where datname = current_database() and state like 'idle in transaction%' and xact_start < $1::timestamptz`,
      [now!.at],
    );
    return open.length === 0;
  }, 5_000);
  await running.api.gql(
    "mutation ($a: ID!, $b: ID!) { a: endChat(id: $a) { id } b: endChat(id: $b) { id } }",
    {
      a: thinking.chatId,
      b: calling.chatId,
    },
  );
  await running.api.gql("mutation { setModelCredential(input: { provider: OPENAI }) { provider } }");
});

test.each([
  [200, "DELIVERED"],
  [204, "DELIVERED"],
  [500, "PENDING"],
])("the status counts even if the connection then breaks: %i", async (code, status) => {
  const { id } = await destination((res) => {
    const { socket } = res.req;
    const rest = code === 204 ? "\r\n" : "Content-Length: 1000\r\n\r\nSo far";
    socket.write(`HTTP/1.1 ${code} Whatever\r\nConnection: close\r\n${rest}`, () => {
      setTimeout(() => socket.resetAndDestroy(), 100); // a reset may overtake what was sent
    });
  });
  expect(await tried(id)).toMatchObject({
    status,
    attempts: [{ status: code, error: null, answer: code === 204 ? "" : "So far" }],
  });
});

test.each([
  ["letters of several bytes", "ü🥊".repeat(500), "ü🥊".repeat(170) + "ü"],
  ["bytes that are not text", "a\0\ud800b", "a\ufffd\ufffdb"],
])("the first KiB of an answer is stored, whatever its content: %s", async (_what, sent, kept) => {
  const { id } = await destination((res) => void res.end(sent));
  expect((await tried(id)).attempts).toMatchObject([{ status: 200, answer: kept }]);
});

test("an answer with incomplete headers does not count", async () => {
  const { id } = await destination((res) => void res.req.socket.end("HTTP/1.1 200 OK\r\nContent-Le"));
  const delivery = await tried(id);
  expect(delivery.attempts).toMatchObject([{ status: null, answer: null }]);
  expectRetry(delivery);
});

test.each([
  [200, "DELIVERED"],
  [500, "PENDING"],
])("64 KiB of an answer of one gigabyte are read and the first KiB is stored: %i", async (code, status) => {
  let sent = 0;
  const { id } = await destination((res) => {
    res.writeHead(code, { "content-length": String(2 ** 30) });
    const piece = Buffer.alloc(16_384, "Lorem ipsum ");
    const pour = () => {
      while (sent < 2 ** 30 && !res.destroyed) {
        sent += piece.length;
        if (!res.write(piece)) return void res.once("drain", pour);
      }
    };
    pour();
  });
  const delivery = await tried(id);
  expect(delivery).toMatchObject({ status, attempts: [{ status: code, error: null }] });
  const { answer } = delivery.attempts[0]!;
  expect(answer).toBe("Lorem ipsum ".repeat(86).slice(0, 1_024));
  // The rest of the sent data fits into the buffers of two sockets, for each of the chat's two events.
  expect(sent).toBeLessThan(2 ** 26);
});

test("a destination can be deleted while the failure of a delivery is being recorded", async () => {
  const answers: (() => void)[] = [];
  const { id } = await destination((res) => void answers.push(() => res.writeHead(500).end()));
  stops.pop(); // it is deleted here
  await newChat(running.api, await quietAssistant(running.api));
  await until(() => answers.length > 0);
  const deleting = new pg.Client({ connectionString: running.database.ownerUrl });
  await deleting.connect();
  stops.push(() => deleting.end());
  await deleting.query("begin; set local deadlock_timeout = '10ms'");
  await deleting.query("select from webhook_destinations where id = $1 for update", [id]);
  answers[0]!();
  await until(() => someoneWaits(running.database));
  const { rowCount } = await deleting.query("delete from webhook_destinations where id = $1", [id]);
  await deleting.query("commit");
  expect(rowCount).toBe(1);
});
