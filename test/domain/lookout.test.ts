import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { Lookout } from "../../src/platform/lookout";

const PAUSES = { pauseMs: 1_000, quietPauseMs: 5_000 };

let looks = 0;
let findsWork = false;
let failures: unknown[] = [];
let lookout: Lookout | undefined;

const begin = (look: () => Promise<boolean> = () => (looks++, Promise.resolve(findsWork))) =>
  (lookout = new Lookout({ ...PAUSES, look, failed: (error) => failures.push(error) }));

/** Looks made during some time. */
async function looksIn(ms: number): Promise<number> {
  const before = looks;
  await jest.advanceTimersByTimeAsync(ms);
  return looks - before;
}

beforeEach(() => {
  jest.useFakeTimers();
  [looks, findsWork, failures] = [0, false, []];
});

afterEach(async () => {
  await lookout?.stop();
  jest.useRealTimers();
});

test("looks less often after a minute without work", async () => {
  begin();
  expect(await looksIn(60_000)).toBe(60);
  await looksIn(5_000);
  expect(await looksIn(50_000)).toBe(10);
});

test("looks often again once a look has found work", async () => {
  begin();
  await looksIn(100_000);
  findsWork = true;
  await looksIn(5_000);
  findsWork = false;
  expect(await looksIn(30_000)).toBe(30);
});

test("looks after the short pause once somebody else has found work", async () => {
  begin();
  await looksIn(100_000);
  await looksIn(100);
  lookout!.noteWork();
  expect(await looksIn(1_000)).toBe(1);
  expect(await looksIn(30_000)).toBe(30);
});

test("reports a look that fails, and goes on", async () => {
  begin(() => {
    looks++;
    return Promise.reject(new Error("the database is away"));
  });
  expect(await looksIn(3_000)).toBe(3);
  expect(failures).toHaveLength(3);
});

test("never looks twice at once, and stops after the look that goes on", async () => {
  let end: ((found: boolean) => void) | undefined;
  begin(() => {
    looks++;
    return new Promise((resolve) => (end = resolve));
  });
  expect(await looksIn(10_000)).toBe(1);
  let stopped = false;
  const stopping = lookout!.stop().then(() => (stopped = true));
  await looksIn(1_000);
  expect(stopped).toBe(false);
  end!(true);
  await stopping;
  expect(await looksIn(10_000)).toBe(0);
});
