import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { outbound, type Outbound } from "../../src/platform/outbound/http";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";

let receiver: Receiver;
let open: Outbound | undefined;
beforeEach(async () => void (receiver = await new Receiver().start()));
afterEach(async () => {
  await open?.close();
  await receiver.stop();
});

/** Posts to a receiver on 127.0.0.1 by a name that resolves to these addresses. */
async function post(...addresses: string[]) {
  let asked = 0;
  open = outbound(["127.0.0.0/8", "::1"], () => Promise.resolve((asked++, addresses)));
  const { port } = new URL(receiver.url);
  const outcome = await open.post({
    url: `http://several.example:${port}/`,
    body: "{}",
    headers: {},
    timeoutMs: 5_000,
    readBytes: 100,
  });
  return { outcome, asked };
}

test.each([
  [["127.0.0.1"]],
  [["::1", "127.0.0.1"]],
  [["127.0.0.1", "::1"]],
  [["127.0.0.9", "127.0.0.8", "127.0.0.1"]],
])("a name is resolved once, and connected at the address that accepts, of %j", async (addresses) => {
  const { outcome, asked } = await post(...addresses);
  expect(outcome).toMatchObject({ kind: "answered", status: 200 });
  expect(asked).toBe(1);
  expect(receiver.received[0]!.headers.host).toBe(`several.example:${new URL(receiver.url).port}`);
});

test("a name without an address that accepts gives an error that says so", async () => {
  expect((await post("::1", "127.0.0.9")).outcome).toMatchObject({
    kind: "failed",
    error: expect.stringContaining("The connection failed (E"),
    timedOut: false,
  });
});

test("a reader that stops before the end of a response does no harm", async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on("uncaughtException", note);
  receiver.answer((res) => void res.end("x".repeat(200_000)));
  open = outbound(["127.0.0.0/8"]);
  for (const stopsAfterOne of [true, false]) {
    const { body } = await open.fetch(receiver.url);
    const reader = body!.getReader();
    if (stopsAfterOne) await reader.read();
    await reader.cancel();
  }
  expect(await (await open.fetch(receiver.url)).text()).toHaveLength(200_000);
  process.off("uncaughtException", note);
  expect(uncaught).toEqual([]);
});

test("a response with a status that does not exist is refused and gives its connection back", async () => {
  let closed = 0;
  receiver.answer((res) => {
    res.on("close", () => closed++);
    res.writeHead(700).write("It never ends.");
  });
  open = outbound(["127.0.0.0/8"]);
  await expect(open.fetch(receiver.url)).rejects.toThrow("status 700, which HTTP does not define");
  await until(() => closed === 1);
});
