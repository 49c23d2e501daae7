import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { checkPayload } from "../../src/events/schemas/check-payload";
import { EVENT_CONTRACTS } from "../../src/events/schemas/payloads";
import { gql, percentile, remove, send, type Bench } from "./bench";

const ONE_BY_ONE = 200;
const CHATS = 100;
const SUSTAINED = 3_000;

/** Measures deliveries to a local receiver: the latency of one event, and the rate with a backlog. */
export async function events(bench: Bench): Promise<void> {
  const { ours, table, ids, serve } = bench;
  const arrivals: { id: string; at: number }[] = [];
  let wake: () => void = () => undefined;
  const receiver = createServer((req: IncomingMessage, res) => {
    arrivals.push({ id: String(req.headers["webhook-id"]), at: performance.now() });
    req.resume();
    req.on("end", () => res.end());
    wake();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const until = async (count: number) => {
    while (arrivals.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  const { port } = receiver.address() as AddressInfo;
  await gql(
    ours.url,
    `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`,
    {
      input: { url: `http://127.0.0.1:${port}/`, secret: "secret of the benchmark" },
    },
  );

  const chats: string[] = [];
  for (let count = 0; count < CHATS; count++) chats.push(await startChat(bench, ids[count % ids.length]!));
  await settled(arrivals);
  const waits: number[] = [];
  for (let count = 0; count < ONE_BY_ONE; count++) {
    const before = arrivals.length;
    const arrived = until(before + 1);
    const began = performance.now(); // before the commit, so the measured latency is an upper bound
    await Promise.all([say(ours.url, chats[count % CHATS]!), arrived]);
    waits.push(arrivals[before]!.at - began);
  }
  const median = percentile(waits, 0.5);
  table.add({
    what: "from a message's request to its event's first byte, median",
    ours: median,
    unit: "ms",
    most: 30,
  });

  await besideOneThatHangs(bench, chats.slice(0, 6));

  // Created while no worker runs, so that only delivery is measured.
  await ours.stop();
  const quiet = await serve({ WORKER: "off" });
  const before = arrivals.length;
  for (let sent = 0; sent < SUSTAINED; sent += CHATS)
    await Promise.all(chats.map((chat) => say(quiet.url, chat)));
  await quiet.stop();
  const busy = await serve();
  await until(before + SUSTAINED);
  const taken = (arrivals[before + SUSTAINED - 1]!.at - arrivals[before]!.at) / 1000;
  await busy.stop();
  receiver.closeAllConnections();
  receiver.close();
  const ids_ = new Set(arrivals.slice(before).map(({ id }) => id)).size;
  if (ids_ !== SUSTAINED) throw new Error(`${ids_} different events of ${SUSTAINED} arrived`);
  table.add({
    what: `deliveries a second, ${SUSTAINED} held up`,
    ours: SUSTAINED / taken,
    unit: "/s",
    least: 500,
  });
  const share = (100 * checkSeconds() * SUSTAINED) / taken;
  table.add({
    what: `checking the payload of ${CHECKED_MESSAGES} messages, of the time of a delivery`,
    ...{ ours: share, unit: "%", most: 3 },
  });
}

/** Messages of the conversation whose payload is checked. */
const CHECKED_MESSAGES = 20;
const CHECKS = 50_000;

/** Time that the check of a payload takes when its event is recorded, in seconds. */
function checkSeconds(): number {
  const { example } = EVENT_CONTRACTS.find(({ name }) => name === "conversation-updated")!;
  const messages = Array.from({ length: CHECKED_MESSAGES }, (_, index) => ({
    role: index % 2 === 0 ? "bot" : "user",
    content: "It arrives tomorrow. ".repeat(5),
  }));
  const payload = { ...example, data: { ...example.data, messages } };
  let seconds = 0;
  for (const isWarm of [false, true]) {
    const began = performance.now();
    for (let count = 0; count < CHECKS; count++) checkPayload(example.event, payload);
    if (isWarm) seconds = (performance.now() - began) / 1_000 / CHECKS;
  }
  return seconds;
}

const say = (origin: string, chat: string) =>
  send(`${origin}/rest/v1/ai-chats/messages`, {
    aiChatId: chat,
    role: "SYSTEM",
    channel: "TEXT",
    content: "noted",
    metadata: {},
  });

const RECEIVERS = 20;
const MESSAGES = 30;
const PACE = 100;

/** Measures how long nineteen receivers wait for occasional messages while a twentieth never answers. */
async function besideOneThatHangs({ ours, table }: Bench, chats: readonly string[]): Promise<void> {
  let said = 0;
  const waits: number[] = [];
  const receiver = createServer((req, res) => {
    if (req.url === "/0") return;
    waits.push(performance.now() - said);
    req.resume().on("end", () => res.end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const made: string[] = [];
  for (let count = 0; count < RECEIVERS; count++) {
    const body = { url: `http://127.0.0.1:${port}/${count}`, secret: "secret of the benchmark" };
    made.push((await send<{ id: string }>(`${ours.url}/rest/v1/settings`, body)).id);
  }
  for (let count = 1; count <= MESSAGES; count++) {
    said = performance.now();
    await say(ours.url, chats[count % chats.length]!);
    // The next message is sent only after all deliveries, so late deliveries count in full.
    while (waits.length < count * (RECEIVERS - 1)) await sleep(1);
    await sleep(PACE);
  }
  table.add({
    what: `one of ${RECEIVERS} receivers hangs: the others' wait, 95th percentile`,
    ours: percentile(waits, 0.95),
    unit: "ms",
    most: 2_000,
  });
  for (const id of made) await remove(`${ours.url}/rest/v1/settings/${id}`);
  receiver.closeAllConnections();
  receiver.close();
}

const startChat = async ({ ours }: Bench, assistantId: string) =>
  (
    await gql<{ startChat: { id: string } }>(
      ours.url,
      `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`,
      { input: { assistantId, channel: "TEXT" } },
    )
  ).startChat.id;

/** Waits until nothing has arrived for a second. */
async function settled(arrivals: readonly unknown[]): Promise<void> {
  for (let seen = -1; seen !== arrivals.length; await new Promise((resolve) => setTimeout(resolve, 1_000)))
    seen = arrivals.length;
}
