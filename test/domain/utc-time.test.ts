import { describe, expect, test } from "@jest/globals";
import { microsOf, utcTime } from "../../src/platform/database/values/utc-time";

/** A time as PostgreSQL writes it in UTC: without zeros at the end of the fraction. */
const written = (ms: number, micros: number) => {
  const [date, time] = new Date(ms).toISOString().split("T") as [string, string];
  const fraction = `${time.slice(9, 12)}${String(micros).padStart(3, "0")}`.replace(/0+$/, "");
  return `${date} ${time.slice(0, 8)}${fraction && `.${fraction}`}+00`;
};

describe("a time of PostgreSQL", () => {
  test("is read with its milliseconds and microseconds, in every year that has four digits", () => {
    const [first, last] = [Date.UTC(1000, 0, 1), Date.UTC(9999, 11, 31)];
    for (let number = 0; number <= 10_000; number++) {
      const ms =
        Math.floor(first + ((last - first) * number) / 10_000) + (number % 3 === 0 ? 0 : number % 1_000);
      const micros = number % 7 === 0 ? 0 : (number * 37) % 1_000;
      const text = written(ms, micros);
      const time = utcTime(text) as Date;
      expect([text, time, microsOf(time)]).toEqual([text, new Date(ms), micros]);
    }
  });

  test.each([
    ["2026-03-01 10:00:00+02", "2026-03-01T08:00:00.000Z"],
    ["2026-03-01 10:00:00.5-03:30", "2026-03-01T13:30:00.500Z"],
    ["0099-03-01 10:00:00+00", "0099-03-01T10:00:00.000Z"],
    ["10000-01-01 00:00:00+00", "+010000-01-01T00:00:00.000Z"],
    ["0044-03-15 12:00:00+00 BC", "-000043-03-15T12:00:00.000Z"],
  ])("%s, of another zone or era, is read too", (text, expected) => {
    expect((utcTime(text) as Date).toISOString()).toBe(expected);
  });

  test("may be infinite", () => {
    expect([utcTime("infinity"), utcTime("-infinity")]).toEqual([Infinity, -Infinity]);
  });
});
