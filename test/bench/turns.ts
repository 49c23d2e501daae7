import { createServer, type Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { gql, newChat, percentile, type Bench } from "./bench";
import { instantModel, listening } from "./calls";

const TURNS = 200;
/** Turns with the instant model, and how many of them run at once in the second measurement. */
const INSTANT = 400;
const AT_ONCE = 8;
/** Time until the model's first piece, and between two pieces, in ms; no real model is faster. */
const FIRST_TOKEN = 100;
const EACH_TOKEN = 10;
const ANSWER = "Of course, I can help you with that: tell me what you are looking for, please.".split(
  /(?= )/,
);

/**
 * Measures the service's share of a turn, from the question to the answer: with a model that streams, minus its time, and
 * with one that answers at once, one turn after another and eight at once.
 */
export async function turns({ ours, table, ids, databaseUrl }: Bench): Promise<void> {
  const streaming = streamingModel();
  await useModel(ours.url, streaming.server);
  const own: number[] = [];
  for (let count = 0; count < TURNS; count++)
    own.push((await turn(ours.url, ids[count % ids.length]!)) - streaming.duration());
  await gatherStatistics(databaseUrl);
  const most = (what: string, part: number, taken: number[], limit: number) =>
    table.add({ what, ours: percentile(taken, part), unit: "ms", most: limit });
  most("a turn without its streaming model, median", 0.5, own, 15);
  end(streaming.server);
  const instant = instantModel();
  await useModel(ours.url, instant);
  const oneByOne: number[] = [];
  for (let count = 0; count < INSTANT; count++) oneByOne.push(await turn(ours.url, ids[count % ids.length]!));
  most("a turn with an instant model, median", 0.5, oneByOne, 12);
  most("a turn with an instant model, 95th percentile", 0.95, oneByOne, 40);
  const perSecond = await turnsAtOnce(ours.url, ids);
  table.add({ what: `turns with ${AT_ONCE} at once`, ours: perSecond, unit: "/s", least: 150 });
  end(instant);
}

/** Does what PostgreSQL does in the first minute of a new database. */
async function gatherStatistics(connectionString: string): Promise<void> {
  const db = new Client({ connectionString });
  await db.connect();
  await db.query("analyze");
  await db.end();
}

/** Turns per second of several persons who each wait for their answer, in chats that have been started before. */
async function turnsAtOnce(url: string, ids: readonly string[]): Promise<number> {
  const chats: string[] = [];
  for (let count = 0; count < INSTANT; count++) chats.push(await newChat(url, ids[count % ids.length]!));
  const person = async (number: number) => {
    for (let count = number; count < INSTANT; count += AT_ONCE) await ask(url, chats[count]!);
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => person(number)));
  return INSTANT / ((performance.now() - began) / 1_000);
}

/** Starts a chat, asks, and waits for the answer. @returns the duration of the turn in ms */
async function turn(url: string, assistantId: string): Promise<number> {
  const chatId = await newChat(url, assistantId);
  const began = performance.now();
  await ask(url, chatId);
  return performance.now() - began;
}

/** Asks, and waits for the answer. @throws Error if none comes */
async function ask(url: string, aiChatId: string): Promise<void> {
  const { postMessage } = await gql<{ postMessage: { reply: { content: string } | null } }>(
    url,
    `mutation ($input: PostMessageInput!) { postMessage(input: $input, withReply: true) { reply { content } } }`,
    { input: { aiChatId, role: "USER", channel: "TEXT", content: "Hello?", metadata: {} } },
  );
  if (!postMessage.reply) throw new Error("The turn has no answer.");
}

async function useModel(url: string, model: Server): Promise<void> {
  const baseUrl = `${await listening(model)}/v1`;
  await gql(
    url,
    `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`,
    {
      input: { provider: "OPENAI", apiKey: "stub", baseUrl },
    },
  );
}

/** A model that streams an answer, and how long its last answer took in ms. */
function streamingModel(): { readonly server: Server; readonly duration: () => number } {
  let taken = 0;
  const server = createServer((req, res) => {
    const began = performance.now();
    req.resume();
    req.on("end", async () => {
      await sleep(FIRST_TOKEN);
      res.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = (delta: object, finish_reason: string | null) =>
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "stub", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
      for (const content of ANSWER) {
        res.write(chunk({ role: "assistant", content }, null));
        await sleep(EACH_TOKEN);
      }
      res.end(`${chunk({}, "stop")}data: [DONE]\n\n`, () => (taken = performance.now() - began));
    });
  });
  return { server, duration: () => taken };
}

function end(server: Server): void {
  server.closeAllConnections();
  server.close();
}
