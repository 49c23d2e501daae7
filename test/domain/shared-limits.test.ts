import { EventEmitter } from "node:events";
import { expect, test } from "@jest/globals";
import { LimitExchange } from "../../src/http/limits/limit-exchange";
import { until } from "../support/until";

const LIMIT = 100;
const MINUTE_MS = 60_000;

/** Servers whose notifications reach each other while `connected` is set. */
function serversOn(wire: EventEmitter, count: number) {
  return Array.from({ length: count }, (_, own) => {
    const state = { connected: true, closed: false, warnings: 0 };
    const listener = {
      get connected() {
        return state.connected;
      },
      get closed() {
        return state.closed;
      },
      on: (channel: string, hear: (ids: Readonly<Record<string, string>>) => void) => {
        const listen = (payload: string, from: number) =>
          void (from !== own && hear(JSON.parse(payload) as Record<string, string>));
        wire.on(channel, listen);
        return () => void wire.off(channel, listen);
      },
      sendToOthers: (channel: string, ids: object) => void wire.emit(channel, JSON.stringify(ids), own),
    };
    const exchange = new LimitExchange(listener, { warn: () => state.warnings++ } as never);
    return { limit: exchange.limit("minute", LIMIT, 60), state };
  });
}

test("ten servers count together: each refuses what the others have admitted, and then admits less than the limit", async () => {
  const servers = serversOn(new EventEmitter(), 10);
  // Before they hear of each other, they admit more than the limit together.
  for (const { limit } of servers)
    for (let count = 0; count < LIMIT / 5; count++) expect(limit.consume("a key").admitted).toBe(true);
  for (const { limit } of servers) {
    // Twice the limit was admitted, so the next minute admits nothing.
    await until(() => limit.consume("a key").msBeforeNext > MINUTE_MS);
    const refused = limit.consume("a key");
    expect(refused).toMatchObject({ admitted: false, remainingPoints: 0 });
    expect(refused.msBeforeNext).toBeLessThanOrEqual(3 * MINUTE_MS);
    expect(limit.consume("another key").admitted).toBe(true);
  }
});

test("servers tell each other of many long keys in several notifications", async () => {
  const wire = new EventEmitter();
  const [one, other] = serversOn(wire, 2);
  const lengths: number[] = [];
  wire.on("parley_limits", (payload: string) => lengths.push(Buffer.byteLength(payload)));
  const keys = Array.from({ length: 100 }, (_, number) => JSON.stringify([number, "ü".repeat(200)]));
  for (const key of keys) one!.limit.consume(key, LIMIT);
  await until(() => keys.every((key) => !other!.limit.consume(key).admitted));
  expect(lengths.length).toBeGreaterThan(1);
  expect(Math.max(...lengths)).toBeLessThan(8_000);
});

test("servers announce the same points twice in different words, because PostgreSQL drops what a batch repeats", async () => {
  const wire = new EventEmitter();
  const [one, other] = serversOn(wire, 2);
  const payloads: string[] = [];
  wire.on("parley_limits", (payload: string) => payloads.push(payload));
  for (const count of [1, 2]) {
    one!.limit.consume("a key", LIMIT / 2);
    await until(() => payloads.length === count);
  }
  expect(new Set(payloads).size).toBe(2);
  expect(other!.limit.consume("a key").admitted).toBe(false);
});

test("a server that cannot notify others counts alone and warns once", async () => {
  const [one] = serversOn(new EventEmitter(), 1);
  one!.state.connected = false;
  for (let count = 0; count < LIMIT; count++) expect(one!.limit.consume("a key").admitted).toBe(true);
  expect(one!.limit.consume("a key").admitted).toBe(false);
  await until(() => one!.state.warnings > 0);
  one!.limit.consume("another key", LIMIT);
  one!.limit.consume("a third key", LIMIT);
  expect(one!.state.warnings).toBe(1);
});

test("a server that stops does not warn about its last requests", async () => {
  const [one] = serversOn(new EventEmitter(), 1);
  let asked = 0;
  Object.defineProperty(one!.state, "connected", { get: () => ++asked === 0 });
  one!.state.closed = true;
  one!.limit.consume("a key", LIMIT);
  await until(() => asked > 0);
  expect(one!.state.warnings).toBe(0);
});
