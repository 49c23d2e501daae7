import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gql, percentile, type Bench } from "./bench";

const TURNS = 200;
/** Time until the model's first piece, and between two pieces, in ms; no real model is faster. */
const FIRST_TOKEN = 100;
const EACH_TOKEN = 10;
const ANSWER = "Of course, I can help you with that: tell me what you are looking for, please.".split(
  /(?= )/,
);

/** Measures the overhead of a turn: the time from the question to the answer, minus the model's own time. */
export async function turns({ ours, table, ids }: Bench): Promise<void> {
  let thinking = 0;
  const model = createServer((req, res) => {
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
      res.end(`${chunk({}, "stop")}data: [DONE]\n\n`, () => (thinking = performance.now() - began));
    });
  });
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
  await gql(
    ours.url,
    `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`,
    {
      input: { provider: "OPENAI", apiKey: "stub", baseUrl },
    },
  );
  const own: number[] = [];
  for (let count = 0; count < TURNS; count++) {
    const { startChat } = await gql<{ startChat: { id: string } }>(
      ours.url,
      `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`,
      { input: { assistantId: ids[count % ids.length]!, channel: "TEXT" } },
    );
    const began = performance.now();
    await gql(
      ours.url,
      `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { role } }`,
      {
        input: { aiChatId: startChat.id, role: "USER", channel: "TEXT", content: "Hello?", metadata: {} },
      },
    );
    own.push(performance.now() - began - thinking);
  }
  model.closeAllConnections();
  model.close();
  table.add({
    what: "a turn without its model, request to answer, median",
    ours: percentile(own, 0.5),
    unit: "ms",
    most: 15,
  });
}
