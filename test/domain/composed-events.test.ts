import { describe, expect, test } from "@jest/globals";
import { bodyOf, compose, digestOf, recipeOf } from "../../src/events/events/compose";

const said = (...contents: (string | null)[]) =>
  contents.map((content, index) => ({
    sequence: index + 1,
    role: index % 2 === 0 ? "ASSISTANT" : "USER",
    content,
  }));
const CHAT = { name: "conversation-updated", type: "TEXT", assistantId: "ada" } as const;
const timestamp = "2026-01-02T03:04:05.678Z";

/*
 * Deliveries that wait for a retry, and payloads of stored events, are composed years later: these bytes never change.
 */
describe("composer 1 composes these bytes", () => {
  test("of a conversation with other scripts, emoji, quotes, control characters and empty messages", () => {
    const messages = said(
      "Zwölf 🥊 <b>\"'\\/",
      null,
      "",
      "\u0001\t\r\n\u2028\u00a0\ud83d\udc69\u200d\ud83d\ude80 你好 مرحبا",
      "\ufffd",
    );
    const body = bodyOf(compose(CHAT, { composer: 1, last: 5, data: { timestamp } }, messages));
    expect(body).toBe(
      String.raw`{"event":"conversation-updated","type":"TEXT","companionId":"ada","data":{"messages":[{"role":"bot","content":"Zwölf 🥊 <b>\"'\\/"},{"role":"user"},{"role":"bot","content":""},{"role":"user","content":"\u0001\t\r\n` +
        "\u2028\u00a0👩\u200d🚀 你好 مرحبا" +
        '"},{"role":"bot","content":"\ufffd"}],"timestamp":"2026-01-02T03:04:05.678Z"}}',
    );
    expect(digestOf(body)).toBe("ioYcZTEdVzJ7qPf4SxMA9j5hXNx3WQdHYZwjFGzfvAk");
  });

  test("of a text with a phone number, without messages of functions and of the system", () => {
    const messages = [
      { sequence: 1, role: "SYSTEM", content: "Be kind." },
      { sequence: 2, role: "USER", content: "Hi" },
      { sequence: 3, role: "TOOL", content: "{}" },
      { sequence: 4, role: "ASSISTANT", content: "Hello" },
      { sequence: 5, role: "USER", content: "A later message" },
    ];
    const recipe = { composer: 1, last: 4, data: { phoneNumber: "+12025550100", timestamp } };
    expect(bodyOf(compose({ ...CHAT, type: "SMS" }, recipe, messages))).toBe(
      '{"event":"conversation-updated","type":"SMS","companionId":"ada","data":{"messages":[{"role":"user","content":"Hi"},{"role":"bot","content":"Hello"}],"phoneNumber":"+12025550100","timestamp":"2026-01-02T03:04:05.678Z"}}',
    );
  });

  test("of a long conversation, from its first message", () => {
    const recipe = { composer: 1, last: 4, first: 3, data: { timestamp } };
    expect(bodyOf(compose(CHAT, recipe, said("a", "b", "c", "d")))).toBe(
      '{"event":"conversation-updated","type":"TEXT","companionId":"ada","data":{"messages":[{"role":"bot","content":"c"},{"role":"user","content":"d"}],"timestamp":"2026-01-02T03:04:05.678Z"}}',
    );
  });

  test("of a status", () => {
    const times = { startedAt: timestamp, endedAt: "2026-01-02T03:05:05.000Z" };
    const data = { status: "ended", ...times, endedReason: "done", phoneNumber: "+12025550100" };
    const envelope = { ...CHAT, name: "status-changed" };
    expect(bodyOf(compose(envelope, { composer: 1, last: 1, data }, said("Bye")))).toBe(
      '{"event":"status-changed","type":"TEXT","companionId":"ada","data":{"messages":[{"role":"bot","content":"Bye"}],"status":"ended","startedAt":"2026-01-02T03:04:05.678Z","endedAt":"2026-01-02T03:05:05.000Z","endedReason":"done","phoneNumber":"+12025550100"}}',
    );
    const begun = { composer: 1, last: 0, data: { status: "in-progress", startedAt: timestamp } };
    expect(bodyOf(compose(envelope, begun, []))).toBe(
      '{"event":"status-changed","type":"TEXT","companionId":"ada","data":{"messages":[],"status":"in-progress","startedAt":"2026-01-02T03:04:05.678Z"}}',
    );
  });

  test("and refuses the recipe of an unknown version", () => {
    expect(() => compose(CHAT, { composer: 2, last: 0, data: {} }, [])).toThrow("newer version");
  });
});

describe("the recipe of a new event", () => {
  const newestFirst = (...contents: string[]) => said(...contents).toReversed();

  test("names the newest message", () => {
    expect(recipeOf(newestFirst("a", "b"), {})).toEqual({ composer: 1, last: 2, data: {} });
    expect(recipeOf([], {})).toEqual({ composer: 1, last: 0, data: {} });
  });

  test("leaves out the oldest messages beyond 1 MiB, and never the newest", () => {
    const long = "ä".repeat(262_144 - 16); // half a MiB in UTF-8, with the 32 bytes that a message counts more
    expect(recipeOf(newestFirst(long, long), {})).not.toHaveProperty("first");
    expect(recipeOf(newestFirst("a", long, long), {})).toHaveProperty("first", 2);
    expect(recipeOf(newestFirst("a", long + long + "b"), {})).toHaveProperty("first", 2);
  });
});
