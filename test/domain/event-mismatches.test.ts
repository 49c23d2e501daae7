import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Logger } from "pino";
import { checkPayload, MISMATCHES, type PayloadMismatch } from "../../src/events/schemas/check-payload";
import { EVENT_CONTRACTS } from "../../src/events/schemas/payloads";
import type { Metrics } from "../../src/http/metrics/metrics";
import { reportMismatches } from "../../src/start/event-mismatches";

const mismatches: PayloadMismatch[] = [];
const note = (mismatch: unknown) => void mismatches.push(mismatch as PayloadMismatch);
beforeAll(() => MISMATCHES.subscribe(note));
afterAll(() => void MISMATCHES.unsubscribe(note));

const good = EVENT_CONTRACTS.find(({ name }) => name === "session-end")!.example;
const withData = (data: object) => ({ ...good, data: { ...good.data, ...data } });

test.each(EVENT_CONTRACTS)("the example of $name matches its schema", ({ name, example }) => {
  checkPayload(name, example);
  expect(mismatches).toEqual([]);
});

test.each([
  ["an unknown field", withData({ secret: "x" }), "/data must NOT have additional properties"],
  ["text for a number", withData({ messageCount: "seven" }), "/data/messageCount must be integer"],
  ["a time in another form", withData({ endedAt: "never" }), '/data/endedAt must match format "date-time"'],
  ["another event", { ...good, event: "session-start" }, "/event must be equal to one of the allowed values"],
  ["nothing", undefined, "must be object"],
])("a payload with %s is reported with the field, never with the value", (_what, payload, problem) => {
  checkPayload("session-end", payload);
  const [reported, ...more] = mismatches.splice(0);
  expect([reported, more]).toEqual([{ event: "session-end", problem: expect.stringContaining(problem) }, []]);
  expect(reported!.problem).not.toMatch(/seven|never/);
});

test("a mismatch is counted each time, and logged at most once a minute for the same problem", () => {
  const lines: object[] = [];
  const counted: string[] = [];
  const logger = { error: (line: object) => void lines.push(line) } as unknown as Logger;
  const metrics = { countMismatch: (event: string) => void counted.push(event) } as unknown as Metrics;
  const end = reportMismatches(metrics, logger);
  for (let time = 0; time < 3; time++) checkPayload("session-end", withData({ endedReason: 5 }));
  end();
  checkPayload("session-end", withData({ endedReason: 5 }));
  expect(lines).toEqual([
    { event: "session-end", since: 1, problem: expect.stringContaining("/data/endedReason must be string") },
  ]);
  expect(counted).toEqual(["session-end", "session-end", "session-end"]);
});
