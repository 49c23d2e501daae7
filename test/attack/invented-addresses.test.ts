import type { IncomingMessage } from "node:http";
import { afterAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { sourceOf } from "../../src/http/limits/client-address";
import { useApp } from "../support/app";
import { closeRaw, rawRequest } from "../support/raw";

const CLIENT = "203.0.113.7";
const PROXY = "10.0.0.5";
const sourceFrom = (trusted: string[], remoteAddress: string, forwarded?: string): string | undefined =>
  sourceOf(
    trusted,
    true,
  )({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  } as unknown as IncomingMessage); // the parts that it reads

/** Entries that clients may invent in X-Forwarded-For: other addresses, those of proxies, and any text. */
const invented = fc.array(
  fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom("127.0.0.1", "::1", PROXY, "10.9.9.9:80", "unknown", "_hidden", "", " ", "203.0.113.9:1"),
    fc.string({ unit: "binary-ascii" }),
  ),
  { maxLength: 6 },
);

describe("an address that a client invents", () => {
  test("is ignored unless a trusted proxy sent it", () => {
    fc.assert(
      fc.property(invented, (entries) => {
        expect(sourceFrom([], CLIENT, entries.join(","))).toBe(CLIENT);
        expect(sourceFrom(["10.0.0.0/8"], CLIENT, entries.join(", "))).toBe(CLIENT);
      }),
    );
  });

  test.each([
    ["one proxy", [CLIENT]],
    ["one proxy that adds the port", [`${CLIENT}:50123`]],
    ["two proxies", [CLIENT, "10.0.0.6"]],
    ["three proxies", [CLIENT, "10.0.0.6", "10.200.0.1"]],
  ])("changes nothing behind %s", (_, added) => {
    fc.assert(
      fc.property(invented, fc.constantFrom(",", ", ", " ,"), (entries, comma) => {
        expect(sourceFrom(["10.0.0.0/8"], PROXY, [...entries, ...added].join(comma))).toBe(CLIENT);
      }),
    );
  });

  test("is no address of a proxy that is not trusted", () => {
    expect(sourceFrom(["10.0.0.0/8"], PROXY, `198.51.100.1, ${CLIENT}, 192.0.2.1`)).toBe("192.0.2.1");
  });
});

test.each([
  ["2001:db8:1:2::1", "2001:0DB8:0001:0002:0000:0000:0000:0001"],
  ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
  ["2001:db8:1:2::1", "[2001:db8:1:2::9]:50123"],
  ["2001:db8:1:2::1", "2001:db8:1:2::203.0.113.7"],
  ["2001:db8:0:0:5::", "2001:db8::5:0:0:0"],
  ["fe80::1", "fe80::2%eth0"],
  [CLIENT, `::ffff:${CLIENT}`],
  [CLIENT, "::FFFF:cb00:7107"],
  [CLIENT, `[::ffff:${CLIENT}]:443`],
  [CLIENT, "64:ff9b::cb00:7107"],
])("%s and %s count as one, whether a proxy forwards them or not", (one, other) => {
  const bare = (address: string) => address.replace(/^\[(.*)\]:\d+$/, "$1");
  const sources = [one, other].flatMap((address) => [
    sourceFrom(["10.0.0.0/8"], PROXY, address),
    sourceFrom([], bare(address)),
  ]);
  expect(new Set(sources).size).toBe(1);
});

test.each([
  ["2001:db8:1:2::1", "2001:db8:1:3::1"],
  [CLIENT, "203.0.113.8"],
  [CLIENT, "::ffff:203.0.113.8"],
])("%s and %s count separately", (one, other) => {
  expect(sourceFrom([], one)).not.toBe(sourceFrom([], other));
});

describe("a server without TRUST_PROXY", () => {
  const running = useApp({ RATE_LIMIT_LOOPBACK: "true", RATE_LIMIT_DOWNLOAD: "3" });
  afterAll(closeRaw);

  test("counts requests with invented addresses for their connection's address", async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        rawRequest(running.url, {
          path: "/rest/docs",
          headers: { "X-Forwarded-For": `198.51.100.${index}`, Forwarded: `for=198.51.100.${index}` },
        }),
      ),
    );
    expect(answers.some(({ status }) => status === 429)).toBe(true);
  });
});
