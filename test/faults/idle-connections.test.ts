import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { afterTest } from "../support/server";

const usual = useApp();
const short = useApp({ KEEP_ALIVE_SECONDS: "1" });

/** Sends a request, and keeps the connection. @returns how many seconds it may be idle, as the answer says */
async function askOnce(url: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  afterTest(() => socket.destroy());
  socket.write("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const [answer] = (await once(socket, "data")) as [Buffer];
  const [, seconds] = /\r\nKeep-Alive: timeout=(\d+)\r\n/.exec(answer.toString())!;
  return { socket, seconds: Number(seconds) };
}

test("an idle connection stays open for longer than proxies keep it, as the answer says", async () => {
  const { seconds } = await askOnce(usual.url);
  expect(seconds).toBeGreaterThan(120); // Caddy, of all common proxies the longest
});

test("an idle connection is closed after KEEP_ALIVE_SECONDS", async () => {
  const { socket, seconds } = await askOnce(short.url);
  expect(seconds).toBe(1);
  await once(socket, "close");
});
