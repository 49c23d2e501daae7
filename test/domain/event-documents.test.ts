import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { EVENT_NAMES } from "../../src/platform/database/event-names";
import { useApp } from "../support/app";
import { FAST, FORWARD, type Event } from "../support/calls";
import { causeEveryEvent } from "../support/every-event";

const page = readFileSync(join(__dirname, "../../docs/events.md"), "utf8");
/** The text of the page before the events, which describes what they share. */
const [introduction = "", ...parts] = page.split(/^## /m);
/** The sections of the page: the name of an event, its text with an example. */
const sections = parts.map((part) => {
  const [name = ""] = part.split("\n", 1);
  const [, example = ""] = /```json\n([^]*?)```/.exec(part) ?? [];
  return { name, text: part.replace(example, ""), example: JSON.parse(example) as Event["payload"] };
});

const running = useApp(FAST);
const happened: Event[] = [];

beforeAll(async () => {
  for (const events of (await causeEveryEvent(running)).values()) happened.push(...events);
});

/** A value with types in place of texts and numbers, except for the name of the event and the channel. */
function shape(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((item) => JSON.stringify(shape(item))))];
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shape(inner, name)]));
  if (["event", "type"].includes(key)) return value;
  if (typeof value !== "string") return typeof value;
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return "time";
  return /^https?:/.test(value) ? "URL" : "text";
}

const ofName = (name: string) => happened.filter((event) => event.name === name);

test("docs/events.md has a section for each event and no other", () => {
  expect(sections.map(({ name }) => name).sort()).toEqual([...EVENT_NAMES].sort());
});

describe.each(sections)("the section of $name", ({ name, text, example }) => {
  test("shows a payload with exactly the fields and types of a real one", () => {
    const real = ofName(name).map(({ payload }) => shape(payload));
    expect(real).toContainEqual(shape(example));
  });

  test("names every field that an event of this name may have", () => {
    const documented = [...Object.keys(example.data as object)];
    for (const [, field] of `${introduction}${text}`.matchAll(/`(?:data\.)?(\w+)`/g)) documented.push(field!);
    const found = new Set(ofName(name).flatMap(({ payload }) => Object.keys(payload.data as object)));
    expect([...found].filter((field) => !documented.includes(field))).toEqual([]);
  });

  test("names every status that occurs", () => {
    const found = new Set(
      ofName(name).flatMap(({ payload }) => (payload.data as { status?: string }).status ?? []),
    );
    expect([...found].filter((status) => !text.includes(`\`${status}\``))).toEqual([]);
  });
});

test("the statuses of calls and chats are named in their order", () => {
  const { text } = sections.find(({ name }) => name === "status-changed")!;
  expect([...text.matchAll(/`([a-z-]+)`/g)].map(([, status]) => status!).slice(0, FORWARD.length)).toEqual(
    FORWARD,
  );
});
