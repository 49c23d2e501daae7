import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import Ajv2020 from "ajv/dist/2020";
import addFormats from "ajv-formats";
import { eventSections } from "../../src/cli/event-documents";
import { EVENT_SCHEMAS } from "../../src/events/schemas/event-schemas";
import type { Schema } from "../../src/events/schemas/schema-type";
import { EVENT_CONTRACTS } from "../../src/events/schemas/payloads";
import { EVENT_NAMES } from "../../src/platform/database/tables/event-names";
import { useApp } from "../support/app";
import { FAST, FORWARD, type Event } from "../support/calls";
import { causeEveryEvent } from "../support/every-event";

const page = readFileSync(join(__dirname, "../../docs/events.md"), "utf8");
const [, generated = ""] = /<!-- events -->([^]*?)<!-- \/events -->/.exec(page) ?? [];
/** The sections of the page: the name of an event and its example. */
const sections = generated
  .split(/^## /m)
  .slice(1)
  .map((part) => {
    const [name = ""] = part.split("\n", 1);
    const [, example = ""] = /```json\n([^]*?)```/.exec(part) ?? [];
    return { name, example: JSON.parse(example) as Event["payload"] };
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

test("docs/events.md is up to date; otherwise run `npm run docs`", () => {
  expect(generated.trim()).toBe(eventSections());
});

test("docs/events.md has a section for each event and no other", () => {
  expect(sections.map(({ name }) => name).sort()).toEqual([...EVENT_NAMES].sort());
});

test.each(sections)(
  "the section of $name shows a payload with exactly the fields and types of a real one",
  ({ name, example }) => {
    const real = ofName(name).map(({ payload }) => shape(payload));
    expect(real).toContainEqual(shape(example));
  },
);

/** Handwritten copy of the contract: the fields of `data`; `!` marks required ones. */
const DOCUMENTED: Readonly<Record<(typeof EVENT_NAMES)[number], string>> = {
  "status-changed": "messages! status startedAt! endedAt endedReason phoneNumber",
  "conversation-updated": "messages! phoneNumber timestamp!",
  "function-call": "name! parameters",
  "session-start": "startedAt! userId phoneNumber",
  "session-end": "startedAt! endedAt! endedReason! messageCount!",
  "interaction-status": "status! timestamp!",
  "call-recording": "recordingUrl! timestamp!",
};
const fieldsOf = ({ properties = {}, required = [] }: Schema) =>
  Object.keys(properties).map((name) => (required.includes(name) ? `${name}!` : name));

test.each(EVENT_CONTRACTS)("$name has exactly the fields of the contract", ({ name, schema }) => {
  expect(fieldsOf(schema)).toEqual(["event!", "type!", "companionId!", "data!"]);
  const { messages } = schema.properties.data!.properties!;
  expect(fieldsOf(schema.properties.data!).sort()).toEqual(DOCUMENTED[name].split(" ").sort());
  if (messages) expect(fieldsOf(messages.items!)).toEqual(["role!", "content"]);
});

test("the statuses of calls and chats are named in their order", () => {
  expect(EVENT_SCHEMAS["status-changed"].data.properties.status.enum).toEqual(FORWARD);
});

describe("the JSON Schema of", () => {
  const schemas = addFormats(new Ajv2020({ allErrors: true }));

  test.each(EVENT_CONTRACTS)("$name is served, and matches its examples and real payloads", async (event) => {
    const path = `/events/schemas/${event.name}/${event.version}`;
    const document = await running.api.as({}).get(path, 200);
    expect(document).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: `${running.url}${path}`,
    });
    const validate = schemas.compile(document);
    const payloads = [...document.examples, ...ofName(event.name).map(({ payload }) => payload)];
    expect(payloads.length).toBeGreaterThan(1);
    for (const payload of payloads) expect([validate(payload), validate.errors]).toEqual([true, null]);
    for (const { path: where, wrong } of broken(event.example))
      expect([where, validate(wrong)]).toEqual([where, false]);
  });

  test("an unknown event or version is not found", async () => {
    for (const path of ["chat-rated/1", "session-start/2", "session-start/01"])
      await running.api.get(`/events/schemas/${path}`, 404);
  });
});

/** Copies of a payload without one of the fields that all payloads have, or with a wrong one. */
const broken = (example: object) =>
  ["event", "type", "companionId", "data"].flatMap((path) => {
    const { [path]: _removed, ...lacking } = example as Record<string, unknown>;
    return [lacking, { ...example, [path]: 5 }].map((wrong) => ({ path, wrong }));
  });
