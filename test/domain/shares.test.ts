import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { SharedSlots } from "../../src/platform/jobs/shares";

describe("slots that organizations share", () => {
  test("can be half used by one organization", () => {
    const shares = new SharedSlots(20);
    const taken = Array.from({ length: 40 }, () => shares.take("one")).filter((leave) => leave !== undefined);
    expect(taken).toHaveLength(10);
    expect(shares.full()).toEqual(["one"]);
    taken[0]!();
    taken[0]!();
    expect(shares.full()).toEqual([]);
    expect(shares.take("one")).toBeDefined();
    expect(shares.take("one")).toBeUndefined();
  });

  test("are left for others however many organizations take all they can get, up to one less than the slots", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 64 }), fc.integer({ min: 1, max: 8 }), (places, greedy) => {
        const shares = new SharedSlots(places);
        for (let name = 0; name < greedy; name++) while (shares.take(`greedy ${name}`));
        // Each one leaves at least as many slots as it holds.
        const left = places >= 2 ** greedy;
        if (left) expect(shares.take("modest")).toBeDefined();
      }),
    );
  });

  test("can be used again after they are released", () => {
    const shares = new SharedSlots(3);
    const leaves = ["one", "two", "three"].map((name) => shares.take(name));
    expect(leaves.map((leave) => leave !== undefined)).toEqual([true, true, true]);
    expect(shares.take("four")).toBeUndefined();
    leaves[1]!();
    expect(shares.take("four")).toBeDefined();
  });
});
