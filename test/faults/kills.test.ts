import type { ServerResponse } from "node:http";
import { beforeEach, expect, test } from "@jest/globals";
import pg from "pg";
import { digestOf } from "../../src/events/events/compose";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { endWaits, someoneWaits } from "../support/database";
import { newChat, quietAssistant, say } from "../support/factories";
import { type ReceivedRequest, Receiver } from "../support/receiver";
import {
  afterTest,
  afterTests,
  SERVER_TIMEOUT_MS,
  type ServerProcess,
  SETTINGS,
  startServer,
} from "../support/server";
import { until } from "../support/until";
import { type Reply, stubModel } from "../support/stub-model";

/** Accepts requests. The servers that the tests start and kill run the jobs. */
const running = useApp({ WORKER: "off" });

const server = (env: Record<string, string> = {}): Promise<ServerProcess> =>
  startServer(
    {
      ...SETTINGS,
      DATABASE_URL: running.database.ownerUrl,
      OUTBOUND_ALLOW: "127.0.0.0/8",
      TAKEOVER_SECONDS: "2",
      ...env,
    },
    afterTests,
  );
/** The server that took over in one test is killed in the next. */
let last: ServerProcess;
const another = async () => void (last = await server());

let receiver: Receiver;
let destinationId: string;
beforeEach(async () => {
  receiver = await new Receiver().start();
  afterTest(() => receiver.stop());
  const { api } = running;
  ({ id: destinationId } = await api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201));
  afterTest(() => api.delete(`/rest/v1/settings/${destinationId}`, 200));
});

interface Row {
  readonly event_id: string;
  readonly status: string;
  readonly attempt: number;
  readonly attempts: readonly { readonly number: number; readonly status: number | null }[];
  /** The digest of the body, or the body of an event without one. */
  readonly content: string;
}

/** The deliveries to the test's destination, in the order of their events. */
const deliveries = () =>
  running.database.query<Row>(
    `select event_id, status, attempt, attempts, coalesce(digest, body) as content
     from deliveries d join events e on e.organization_id = d.organization_id and e.id = d.event_id
     where destination_id = $1 order by event_id`,
    [destinationId],
  );
/** The deliveries, one line each. */
const told = async () =>
  (await deliveries()).map(({ attempt, status, content }) => `${attempt} ${status} ${content}`);
const idOf = ({ headers }: ReceivedRequest) => String(headers["webhook-id"]);

/** Waits for all deliveries. Expects each event as stored, and twice only if it was in flight. */
async function allDelivered(inFlight: readonly string[]): Promise<Row[]> {
  await until(async () => (await deliveries()).every(({ status }) => status === "DELIVERED"));
  const rows = await deliveries();
  const twice = rows.flatMap(({ event_id: id }) => (inFlight.includes(id) ? [id, id] : [id]));
  expect(receiver.received.map(idOf).sort()).toEqual(twice.sort());
  for (const received of receiver.received) {
    const { content } = rows.find(({ event_id }) => event_id === idOf(received))!;
    expect([received.text, digestOf(received.text)]).toContain(content);
  }
  return rows;
}

/** Starts a chat whose assistant uses a model with these replies. */
async function chatWith(...replies: Reply[]) {
  const { api } = running;
  const model = await stubModel(...replies);
  afterTest(model.stop);
  const set = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`;
  await api.gql(set, { input: { provider: "OPENAI", apiKey: "sk-test-1234", baseUrl: model.url } });
  const chatId = await newChat(api, await quietAssistant(api));
  const messages = () =>
    running.database.query<{ role: string; content: string }>(
      "select role, content from messages where chat_id = $1 order by sequence",
      [chatId],
    );
  return { model, chatId, messages };
}

const never = new Promise<never>(() => undefined);

test(
  "everything acknowledged by a server that is killed at once is delivered by the next one",
  async () => {
    const first = await server({ WORKER: "off" });
    const chatId = await newChat(first.api, await quietAssistant(first.api));
    for (let n = 1; n <= 10; n++) await say(first.api, chatId, `message ${n}`);
    await first.end("SIGKILL");
    expect(receiver.received).toEqual([]);
    await another();
    const rows = await allDelivered([]);
    expect(receiver.received.map(idOf)).toEqual(rows.map(({ event_id }) => event_id));
    expect(rows).toHaveLength(12);
    expect(receiver.received.at(-1)!.text).toContain("message 10");
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a delivery whose server is killed before the receiver answers is repeated with the same bytes and id",
  async () => {
    receiver.answer((res, _, number) => void (number > 1 && res.end("ok")));
    const first = last;
    const chatId = await newChat(running.api, await quietAssistant(running.api));
    await say(running.api, chatId, "hello");
    const [held] = await receiver.until(1);
    await first.end("SIGKILL");
    await another();
    const [row] = await allDelivered([idOf(held!)]);
    expect(row).toMatchObject({ event_id: idOf(held!), attempt: 2, attempts: [{ number: 2, status: 200 }] });
    // Later events of the chat have waited for it.
    const rest = receiver.received.slice(2).map(idOf);
    expect(receiver.received.slice(0, 2).map(idOf)).toEqual([row!.event_id, row!.event_id]);
    expect(rest).toEqual([...rest].sort());
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a delivery whose server is killed after the receiver's 200, before it is stored, is repeated with the same bytes",
  async () => {
    const owner = new pg.Client({ connectionString: running.database.ownerUrl });
    await owner.connect();
    afterTest(() => owner.end());
    let answer: ServerResponse | undefined;
    receiver.answer((res, _, number) => void (number === 1 ? (answer = res) : res.end("ok")));
    const first = last;
    await newChat(running.api, await quietAssistant(running.api));
    const [held] = await receiver.until(1);
    // The server that records the answer must wait for this row.
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    await owner.query("begin");
    const lock = "select from deliveries where organization_id = $1 and event_id = $2 for update";
    await owner.query(lock, [organizationId, idOf(held!)]);
    answer!.end("ok");
    const noting = "%update deliveries%set status =%";
    await until(() => someoneWaits(running.database, noting));
    await first.end("SIGKILL");
    await endWaits(running.database, noting);
    await owner.query("rollback");
    await another();
    const [row] = await allDelivered([idOf(held!)]);
    expect(row).toMatchObject({ event_id: idOf(held!), attempts: [{ number: 2, status: 200 }] });
  },
  3 * SERVER_TIMEOUT_MS,
);

test.each([
  ["taken from the queue", () => running.api],
  ["started while accepting the message", () => last.api],
])(
  "a turn whose server is killed after the turn was %s is run by another, and the person gets one answer",
  async (_, at) => {
    const { model, chatId, messages } = await chatWith(
      { text: ["The answer ", "never comes."], held: never },
      { text: ["Here ", "I am."] },
    );
    const first = last;
    await say(at(), chatId, "Anybody there?", "USER");
    await until(() => model.asked.length === 1);
    await first.end("SIGKILL");
    await another();
    await until(async () => (await messages()).length === 2);
    expect(await messages()).toEqual([
      { role: "USER", content: "Anybody there?" },
      { role: "ASSISTANT", content: "Here I am." },
    ]);
    // The next message gets its own answer: no job of the first turn is left.
    await say(at(), chatId, "And now?", "USER");
    await until(async () => (await messages()).length === 4);
    expect(model.asked).toHaveLength(3);
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a turn during which three servers crashed is run by the fourth",
  async () => {
    const held = { text: ["The answer ", "never comes."], held: never };
    const { model, chatId, messages } = await chatWith(held, held, held, { text: ["Here I am."] });
    await say(running.api, chatId, "Anybody there?", "USER");
    for (let died = 1; died <= 3; died++) {
      await until(() => model.asked.length === died);
      await last.end("SIGKILL");
      await another();
    }
    await until(async () => (await messages()).length === 2);
    expect((await messages())[1]).toEqual({ role: "ASSISTANT", content: "Here I am." });
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a server that stalled until others took over changes nothing when it resumes: no second delivery or answer",
  async () => {
    let goOn = () => undefined as void;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const { chatId, messages } = await chatWith(
      { text: ["I am ", "late."], held },
      { text: ["I took over."] },
    );
    let late: { readonly response: ServerResponse; readonly eventId: string } | undefined;
    receiver.answer((response, request) => {
      if (request.body.event !== "session-start" || late) response.end("ok");
      else late = { response, eventId: idOf(request) };
    });
    const first = last;
    await until(() => late !== undefined);
    await say(running.api, chatId, "Anybody there?", "USER");
    // Wait until the first words are stored, because a statement in flight would complete after the stop.
    await until(async () => (await told()).at(-1)!.includes('"speaking"'));
    process.kill(first.pid, "SIGSTOP");
    await another();
    await until(async () => (await messages()).length === 2);
    const isOver = ({ content, status }: Row) => status === "DELIVERED" && content.includes('"listening"');
    await until(async () => (await deliveries()).some(isOver)); // the last event of a turn
    await until(async () => (await deliveries()).every(({ status }) => status === "DELIVERED"));
    const before = { told: await told(), messages: await messages() };

    late!.response.writeHead(500).end("too late");
    goOn();
    process.kill(first.pid, "SIGCONT");
    // The process ends only after its current work has ended.
    expect((await first.end("SIGTERM")).code).toBe(0);
    expect(await told()).toEqual(before.told);
    expect(await messages()).toEqual(before.messages);
    expect(before.messages.map(({ content }) => content)).toEqual(["Anybody there?", "I took over."]);
    const start = (await deliveries()).find(({ event_id }) => event_id === late!.eventId);
    expect(start).toMatchObject({ status: "DELIVERED", attempt: 2, attempts: [{ number: 2, status: 200 }] });
    const counted = "select failures from webhook_destinations where id = $1";
    expect(await running.database.query(counted, [destinationId])).toEqual([{ failures: 0 }]);
  },
  3 * SERVER_TIMEOUT_MS,
);

test.each(["SIGKILL", "SIGTERM"] as const)(
  "a message whose server ends by %s while its sender waits is stored and answered once, though its sender repeats it",
  async (signal) => {
    const { model, chatId, messages } = await chatWith(
      { text: ["The answer ", "never comes."], held: never },
      { text: ["Here I am."] },
    );
    const send = (api: Api) =>
      api.request(
        "POST",
        "/rest/v1/ai-chats/messages?wait=true",
        { aiChatId: chatId, role: "USER", channel: "TEXT", content: "Anybody there?", metadata: {} },
        { "Idempotency-Key": `once, despite ${signal}` },
      );
    const first = last;
    const lost = expect(send(first.api)).rejects.toThrow();
    await until(() => model.asked.length === 1);
    await first.end(signal);
    await lost;
    if (signal === "SIGKILL")
      expect(await send(running.api)).toMatchObject({ status: 409, body: { code: "REQUEST_IN_PROGRESS" } });
    await another();
    const answer = await until(async () => {
      const answer = await send(running.api);
      return answer.status !== 409 && answer;
    });
    expect(answer).toMatchObject({ status: 201, body: { reply: { content: "Here I am." } } });
    expect(await messages()).toHaveLength(2);
  },
  3 * SERVER_TIMEOUT_MS,
);
