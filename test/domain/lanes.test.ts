import { describe, expect, test } from "@jest/globals";
import { Lanes, type Lane, type LaneState } from "../../src/worker/dispatcher/lanes";

const QUICK: LaneState = { lastAnswerMs: 20, timedOut: false };
const KIND = { assistantId: "a", name: "session-start" };
const HANGS: LaneState = { lastAnswerMs: undefined, timedOut: true };

/** A destination whose last attempt ended like this. */
async function lane(
  lanes: Lanes,
  organization: string,
  destination: string,
  state: LaneState = QUICK,
): Promise<Lane> {
  const made = lanes.markPending(organization, destination);
  expect(await lanes.begin(made)).toBe(true);
  lanes.note(made, state, KIND);
  lanes.end(made);
  return made;
}

/** Takes as many queues as possible. @returns their number */
function fill(lanes: Lanes, made: Lane): number {
  let count = 0;
  for (; lanes.capacity(made) > 0; count++) lanes.start(made);
  return count;
}

/** Counts attempts that begin, and those that are turned away. */
class Attempts {
  begun = 0;
  turnedAway = 0;

  constructor(
    private readonly lanes: Lanes,
    private readonly lane: Lane,
    count: number,
  ) {
    for (let n = 0; n < count; n++) void lanes.begin(lane).then((mayBegin) => this.count(mayBegin));
  }

  /** Ends one and lets others begin. */
  async end(state?: LaneState): Promise<void> {
    if (state) this.lanes.note(this.lane, state, KIND);
    this.lanes.end(this.lane);
    await settled();
  }

  private count(mayBegin: boolean): void {
    if (mayBegin) this.begun++;
    else this.turnedAway++;
  }
}
const settled = () => new Promise(setImmediate);

async function attempt(lanes: Lanes, made: Lane, count = 100): Promise<Attempts> {
  const attempts = new Attempts(lanes, made, count);
  await settled();
  return attempts;
}
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one);

describe("attempts in flight are limited to", () => {
  const begun = async (lanes: Lanes, made: Lane) => (await attempt(lanes, made)).begun;

  test("2 per destination, and 16 to a fast one", async () => {
    const lanes = new Lanes();
    expect(await begun(lanes, lanes.markPending("a", "new"))).toBe(2);
    expect(await begun(lanes, await lane(lanes, "b", "slow", { lastAnswerMs: 1_500, timedOut: false }))).toBe(
      2,
    );
    expect(await begun(lanes, await lane(lanes, "c", "quick"))).toBe(16);
  });

  test("half of all for an organization alone, not counting those that hang", async () => {
    const lanes = new Lanes();
    const hanging = await lane(lanes, "a", "hangs", HANGS);
    const quick = [];
    for (const name of ["1", "2", "3", "4"]) quick.push(await lane(lanes, "a", name));
    const counts = [];
    for (const made of quick) counts.push(await begun(lanes, made));
    expect(counts).toEqual([16, 16, 0, 0]);
    expect(await begun(lanes, hanging)).toBe(2);
  });

  test("8 that hang, of all organizations, and 64 in total", async () => {
    const lanes = new Lanes();
    const counts = { hang: [] as number[], answer: [] as number[] };
    for (let n = 0; n < 10; n++)
      counts.hang.push(await begun(lanes, await lane(lanes, `o${n}`, `d${n}`, HANGS)));
    expect(sum(counts.hang)).toBe(8);
    const quick = [];
    for (let n = 0; n < 10; n++) quick.push(await lane(lanes, `p${n}`, `e${n}`));
    for (const made of quick) counts.answer.push(await begun(lanes, made));
    expect(sum(counts.answer)).toBe(56);
  });

  test("as many as before when one ends, also if others wait whose limit is reached", async () => {
    const lanes = new Lanes();
    const [first, second] = [await lane(lanes, "a", "first"), await lane(lanes, "b", "second")];
    const [firsts, seconds] = [await attempt(lanes, first, 20), await attempt(lanes, second, 20)];
    expect([firsts.begun, seconds.begun]).toEqual([16, 16]);
    await seconds.end(QUICK);
    expect([firsts.begun, seconds.begun]).toEqual([16, 17]);
    await firsts.end(); // nothing is known of it
    expect([firsts.begun, seconds.begun]).toEqual([17, 17]);
  });

  test("those of other organizations too, which wait for less than those of one that has many", async () => {
    const lanes = new Lanes();
    const all = [];
    for (let organization = 0; organization < 6; organization++)
      for (const n of [1, 2]) all.push(await lane(lanes, `o${organization}`, `o${organization}/${n}`));
    const modest = await lane(lanes, "modest", "m");
    const greedy = [];
    for (const made of all) greedy.push(await attempt(lanes, made));
    expect(sum(greedy.map(({ begun: count }) => count))).toBeLessThanOrEqual(64);
    expect((await attempt(lanes, modest, 1)).begun).toBe(1);
  });
});

test("waiting attempts are turned away when their destination becomes slow or the process ends, and begin otherwise", async () => {
  const lanes = new Lanes();
  const [slow, quick] = [await lane(lanes, "a", "slow"), await lane(lanes, "b", "quick")];
  for (let n = 0; n < 32; n++) [slow, quick].map((made) => lanes.start(made));
  const [slowed, others] = [await attempt(lanes, slow, 20), await attempt(lanes, quick, 20)];
  await slowed.end(HANGS);
  expect(slowed).toMatchObject({ begun: 16, turnedAway: 4 });
  expect(others).toMatchObject({ begun: 16, turnedAway: 0 });
  lanes.close();
  await settled();
  expect(others).toMatchObject({ begun: 16, turnedAway: 4 });
  expect(await lanes.begin(quick)).toBe(false);
});

describe("queues whose deliveries are being sent are limited to", () => {
  test("2 per destination, and twice as many as attempts to a fast one", async () => {
    const lanes = new Lanes();
    expect(fill(lanes, lanes.markPending("a", "new"))).toBe(2);
    expect(fill(lanes, await lane(lanes, "b", "slow", { lastAnswerMs: 1_500, timedOut: false }))).toBe(2);
    expect(fill(lanes, await lane(lanes, "c", "quick"))).toBe(32);
  });

  test("half of all for an organization alone, not counting those that hang", async () => {
    const lanes = new Lanes();
    const counts = [];
    for (const name of ["1", "2", "3", "4"]) counts.push(fill(lanes, await lane(lanes, "a", name)));
    expect(counts).toEqual([32, 32, 0, 0]);
    expect(fill(lanes, await lane(lanes, "a", "5", HANGS))).toBe(2);
  });

  test("8 that hang, of all organizations, and 128 in total", async () => {
    const lanes = new Lanes();
    const counts = { hang: [] as number[], answer: [] as number[] };
    for (let n = 0; n < 10; n++) counts.hang.push(fill(lanes, await lane(lanes, `o${n}`, `d${n}`, HANGS)));
    expect(sum(counts.hang)).toBe(8);
    for (let n = 0; n < 10; n++) counts.answer.push(fill(lanes, await lane(lanes, `p${n}`, `e${n}`)));
    expect(sum(counts.answer)).toBe(120);
  });

  test("a number per organization that leaves room for others, also among those that hang", async () => {
    const lanes = new Lanes();
    for (let n = 0; n < 8; n++) fill(lanes, await lane(lanes, "hangs", `h${n}`, HANGS));
    expect(fill(lanes, await lane(lanes, "other", "hangs too", HANGS))).toBeGreaterThan(0);
    for (let organization = 0; organization < 5; organization++)
      for (let n = 0; n < 8; n++)
        fill(lanes, await lane(lanes, `greedy ${organization}`, `g${organization}/${n}`));
    expect(fill(lanes, await lane(lanes, "modest", "m"))).toBeGreaterThan(0);
  });
});

test("the limits are the same after all has ended, whatever became of the destinations", async () => {
  const lanes = new Lanes();
  const all: Lane[] = [];
  for (let n = 0; n < 20; n++) all.push(await lane(lanes, `o${n % 3}`, `d${n}`, n % 2 ? HANGS : QUICK));
  const queues = all.flatMap((made) => Array.from({ length: fill(lanes, made) }, () => made));
  const begun: Lane[] = [];
  let waiting = queues.length * 2;
  for (const made of [...queues, ...queues])
    void lanes.begin(made).then((mayBegin) => {
      waiting--;
      if (mayBegin) begun.push(made);
    });
  for (let ended = 0; waiting > 0 || ended < begun.length; ended++) {
    await settled();
    expect(begun.length - ended).toBeGreaterThan(0);
    expect(begun.length - ended).toBeLessThanOrEqual(64);
    const state = [QUICK, HANGS, undefined][ended % 3];
    if (state) lanes.note(begun[ended]!, state, KIND);
    lanes.end(begun[ended]!);
  }
  expect(begun.length).toBeGreaterThan(all.length);
  for (const made of queues) lanes.finish(made);
  const again = await lane(lanes, "o0", "d0");
  expect(fill(lanes, again)).toBe(32);
  expect((await attempt(lanes, again)).begun).toBe(16);
  expect(fill(lanes, await lane(lanes, "p", "hangs", HANGS))).toBe(2);
});

test("a destination with nothing to send is released, and its speed is remembered", async () => {
  const lanes = new Lanes();
  const made = await lane(lanes, "a", "d", HANGS);
  lanes.clearPending(made);
  lanes.release(made);
  expect(lanes.pending()).toEqual([]);
  const again = lanes.markPending("a", "d");
  expect(again.timedOut).toBe(true);
  expect(lanes.pending()).toEqual([again]);
});
