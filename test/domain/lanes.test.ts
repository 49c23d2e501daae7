import { describe, expect, test } from "@jest/globals";
import { Lanes, type Lane, type AttemptResult } from "../../src/worker/dispatcher/lanes";

const QUICK: AttemptResult = { lastAnswerMs: 20, timedOut: false };
const HANGS: AttemptResult = { lastAnswerMs: undefined, timedOut: true };

/** A destination with this outcome. */
function lane(lanes: Lanes, organization: string, destination: string, tried: AttemptResult = QUICK): Lane {
  const made = lanes.markPending(organization, destination);
  lanes.start(made);
  lanes.note(made, tried);
  lanes.finish(made);
  return made;
}

/** Starts as many deliveries as possible. @returns their number */
function fill(lanes: Lanes, made: Lane): number {
  let count = 0;
  for (; lanes.capacity(made) > 0; count++) lanes.start(made);
  return count;
}

describe("deliveries in flight are limited to", () => {
  test("2 per destination, and 16 to a fast one", () => {
    const lanes = new Lanes();
    expect(fill(lanes, lanes.markPending("a", "new"))).toBe(2);
    expect(fill(lanes, lane(lanes, "b", "slow", { lastAnswerMs: 1_500, timedOut: false }))).toBe(2);
    expect(fill(lanes, lane(lanes, "c", "quick"))).toBe(16);
  });

  test("half of all for an organization alone, not counting those that hang", () => {
    const lanes = new Lanes();
    expect(["1", "2", "3", "4"].map((name) => fill(lanes, lane(lanes, "a", name)))).toEqual([16, 16, 0, 0]);
    expect(fill(lanes, lane(lanes, "a", "5", HANGS))).toBe(2);
  });

  test("8 that hang, of all organizations, and 64 in total", () => {
    const lanes = new Lanes();
    const hanging = Array.from({ length: 10 }, (_, n) => fill(lanes, lane(lanes, `o${n}`, `d${n}`, HANGS)));
    expect(hanging.reduce((sum, count) => sum + count)).toBe(8);
    const others = Array.from({ length: 10 }, (_, n) => fill(lanes, lane(lanes, `p${n}`, `e${n}`)));
    expect(others.reduce((sum, count) => sum + count)).toBe(56);
  });

  test("a number per organization that leaves room for others, also among those that hang", () => {
    const lanes = new Lanes();
    for (let n = 0; n < 8; n++) fill(lanes, lane(lanes, "hangs", `h${n}`, HANGS));
    expect(fill(lanes, lane(lanes, "other", "hangs too", HANGS))).toBeGreaterThan(0);
    for (let organization = 0; organization < 5; organization++)
      for (let n = 0; n < 8; n++) fill(lanes, lane(lanes, `greedy ${organization}`, `g${organization}/${n}`));
    expect(fill(lanes, lane(lanes, "modest", "m"))).toBeGreaterThan(0);
  });

  test("the same numbers after all have ended, whatever became of their destinations", () => {
    const lanes = new Lanes();
    const all = Array.from({ length: 20 }, (_, n) =>
      lane(lanes, `o${n % 3}`, `d${n}`, n % 2 ? HANGS : QUICK),
    );
    const begun = all.flatMap((made) => Array.from({ length: fill(lanes, made) }, () => made));
    for (const [index, made] of begun.entries()) {
      const result = [QUICK, HANGS, undefined][index % 3];
      if (result) lanes.note(made, result);
      lanes.finish(made);
    }
    expect(all.map(({ inFlight }) => inFlight)).toEqual(all.map(() => 0));
    for (const made of all) {
      lanes.start(made);
      lanes.note(made, QUICK);
      lanes.finish(made);
    }
    expect(fill(lanes, all[0]!)).toBe(16);
    expect(fill(lanes, lane(lanes, "p", "hangs", HANGS))).toBe(2);
  });
});

test("a destination with nothing to send is released, and its speed is remembered", () => {
  const lanes = new Lanes();
  const made = lane(lanes, "a", "d", HANGS);
  lanes.clearPending(made);
  lanes.release(made);
  expect(lanes.pending()).toEqual([]);
  const again = lanes.markPending("a", "d");
  expect(again.timedOut).toBe(true);
  expect(lanes.pending()).toEqual([again]);
});
