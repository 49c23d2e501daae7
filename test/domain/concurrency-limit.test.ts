import { expect, test } from "@jest/globals";
import { ConcurrencyLimit } from "../../src/platform/concurrency-limit";
import { until } from "../support/until";

/** Work by name that begins with the limit and ends on demand. */
function works(limit: ConcurrencyLimit, names: readonly string[]) {
  const begun: string[] = [];
  const ends = new Map<string, { end: () => void; fail: () => void }>();
  const results = names.map((name) =>
    limit.run(() => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, { end: () => resolve(name), fail: () => reject(new Error(name)) });
      });
    }),
  );
  return {
    begun,
    results,
    end: (name: string) => ends.get(name)!.end(),
    fail: (name: string) => ends.get(name)!.fail(),
  };
}

test("begins work in its order, whenever less than the limit is under way", async () => {
  const limit = new ConcurrencyLimit({ atOnce: 2, countedMs: 60_000 });
  const { begun, results, end, fail } = works(limit, ["a", "b", "c", "d", "e"]);
  expect(begun).toEqual(["a", "b"]);
  end("b");
  expect(await results[1]).toBe("b");
  await until(() => begun.length === 3);
  fail("a");
  await expect(results[0]).rejects.toThrow("a");
  await until(() => begun.length === 4);
  expect(begun).toEqual(["a", "b", "c", "d"]);
  for (const name of ["c", "d"]) end(name);
  await until(() => begun.length === 5);
  end("e");
  expect(await Promise.all(results.slice(2))).toEqual(["c", "d", "e"]);
});

test("counts work only for a while, so that none waits for work that does not end", async () => {
  const limit = new ConcurrencyLimit({ atOnce: 2, countedMs: 20 });
  const names = Array.from({ length: 9 }, (_, index) => `work ${index}`);
  const { begun, results, end } = works(limit, names);
  await until(() => begun.length === names.length);
  expect(begun).toEqual(names);
  names.forEach(end);
  expect(await Promise.all(results)).toEqual(names);
});
