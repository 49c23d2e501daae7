import { createHash } from "node:crypto";
import { afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Client } from "../../src/platform/database/knex-client/client";
import { FilteredStatement } from "../../src/platform/database/lists/filtered-statement";
import { List, page } from "../../src/platform/database/lists/page";
import { perId, readPerId } from "../../src/platform/database/lists/per-id";
import { statement, Statement, type Pieces } from "../../src/platform/database/statement";
import { useApp } from "../support/app";
import { newAssistant, newChat, say } from "../support/factories";
import { callerOf, targets } from "../support/targets";
import { buildWorld } from "../support/world";

// One connection, so that all prepared statements are in its session.
const running = useApp({ DATABASE_POOL: "1" });
afterEach(() => void jest.restoreAllMocks());

let organizationId: string;
beforeAll(async () => void ({ id: organizationId } = await running.api.get("/rest/v1/organization", 200)));

const scope = () => running.app.database.scope(organizationId);
const digest = (sql: string) => createHash("sha256").update(sql).digest("base64url");

const PREPARED = new Statement<{ name: string; statement: string }>(
  ({ db }) => db.raw("select name, statement from pg_prepared_statements where $1::text is not null"),
  { isPrepared: false },
);

describe("a statement", () => {
  test("builds its text once, and once more for a key limited to some assistants", async () => {
    const build = jest.fn(({ table, $ }: Pieces) => table("assistants").where({ id: $(1) }));
    const byId = statement(build);
    const id = await newAssistant(running.api);
    for (let round = 0; round < 3; round++) expect(await scope().read(byId, [id])).toMatchObject([{ id }]);
    expect(build).toHaveBeenCalledTimes(1);
    const limited = () => running.app.database.scope(organizationId, [id]);
    await limited().read(byId, [id]);
    const builds = build.mock.calls.length;
    expect(await limited().read(byId, [await newAssistant(running.api)])).toEqual([]);
    expect(build).toHaveBeenCalledTimes(builds);
  });

  test("refuses a value in its text, which would create a text per value", async () => {
    const inText = statement(({ table }) => table("assistants").where({ id: "x" }));
    await expect(scope().read(inText)).rejects.toThrow("Pass values as parameters");
    const ofOneId = perId(({ table }) => table("chats").where({ status: "ended" }));
    const read = readPerId(scope(), ofOneId, ["x"], { take: 1 });
    await expect(read).rejects.toThrow("Pass values as parameters");
    const list = new List({
      table: "files",
      where: (rows) => rows.where({ name: "x" }),
      columns: ["id"],
      unbounded: {},
    });
    await expect(page(scope(), list, {})).rejects.toThrow("Pass values as parameters");
  });

  test("runs its own text, even if another statement has the same shape", async () => {
    const one = statement<{ n: number }>(({ db }) => db.raw("select 1 as n where $1::text is not null"));
    const two = statement<{ n: number }>(({ db }) => db.raw("select 2 as n where $1::text is not null"));
    const read = async () => [(await scope().read(one))[0]!.n, (await scope().read(two))[0]!.n];
    expect([await read(), await read()]).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });
});

describe("optional conditions", () => {
  const chats = new FilteredStatement<{ id: string }, "channel" | "status">(
    {
      channel: (rows, value) => rows.where("channel", value),
      status: (rows, value) => rows.where("status", value),
    },
    ({ table, $, narrowed }) => narrowed(table("chats").where("assistantId", $(1))).select("id"),
  );

  test("find the same with and without a value, in any combination, for any credential", async () => {
    const assistantId = await newAssistant(running.api);
    const id = await newChat(running.api, assistantId);
    const find = async (limited: readonly string[] | undefined, filter: object) => {
      const { statement, values } = chats.by(filter);
      const scope = running.app.database.scope(organizationId, limited);
      return (await scope.read(statement, [assistantId, ...values])).map((row) => row.id);
    };
    for (const limited of [undefined, [assistantId]])
      for (const channel of [undefined, null, "TEXT", "SMS"])
        for (const status of [undefined, null, "in-progress", "ended"]) {
          const expected = channel !== "SMS" && status !== "ended" ? [id] : [];
          expect([channel, status, await find(limited, { channel, status })]).toEqual([
            channel,
            status,
            expected,
          ]);
        }
    expect(await find([await newAssistant(running.api)], { channel: "TEXT" })).toEqual([]);
  });

  test("create one statement per combination, however often they are used", () => {
    const filters = [{}, { channel: "TEXT" }, { status: "ended" }, { channel: "TEXT", status: "ended" }];
    const made = new Set([...filters, ...filters].map((filter) => chats.by(filter).statement));
    expect(made.size).toBe(filters.length);
  });
});

describe("prepared statements", () => {
  beforeAll(async () => {
    const { api } = await running.otherOrganization();
    const world = await buildWorld(api);
    for (const target of targets.filter(({ changes }) => !changes))
      await target.ask(callerOf(target, api, world), world);
  });

  test("are named by a digest of their text, so that no two texts share a name", async () => {
    const prepared = await scope().read(PREPARED);
    expect(prepared.length).toBeGreaterThan(30);
    expect(prepared.filter(({ name, statement }) => name !== digest(statement))).toEqual([]);
  });

  test("stay few, whichever configuration fields clients select", async () => {
    const id = await newAssistant(running.api);
    const fields = ["prompt", "model", "provider", "resources", "temperature", "functions", "forceRag"];
    for (let bits = 1; bits < 2 ** fields.length; bits++) {
      const selected = fields.filter((_, index) => bits & (1 << index)).join(" ");
      await running.api.gql(`{ assistant(id: "${id}") { chat { ${selected} } sms { ${selected} } } }`);
    }
    const prepared = await scope().read(PREPARED);
    // Of this connection; others of the pool have some as well.
    const count = prepared.filter(({ statement }) => /from "\w+_configurations"/.test(statement)).length;
    expect(count).toBeGreaterThan(10);
    expect(count).toBeLessThanOrEqual(100);
  });

  test("stay few, whichever configuration fields clients change", async () => {
    const id = await newAssistant(running.api);
    const changes = {
      prompt: "Be kind.",
      temperature: 0.5,
      resources: "",
      maxTokensOutput: 99,
      chatMode: true,
      functions: [],
    };
    const fields = Object.entries(changes);
    for (let bits = 1; bits < 2 ** fields.length; bits++) {
      const body = Object.fromEntries(fields.filter((_, index) => bits & (1 << index)));
      const changed = await running.api.patch(`/rest/v1/assistants/${id}/chat`, body, 200);
      expect(changed).toMatchObject(body);
    }
    const prepared = await scope().read(PREPARED);
    const count = prepared.filter(({ statement }) => /update "chat_configurations"/.test(statement)).length;
    expect(count).toBeGreaterThan(3);
    expect(count).toBeLessThanOrEqual(25);
  });
});

const DASHBOARD = `{ assistants(take: 5) { data {
  id name voice { prompt } sms { prompt } chat { prompt } theme { theme } logs(take: 5) { id label }
} meta { itemCount } } }`;

describe("a repeated request builds no text", () => {
  const REQUESTS: Readonly<Record<string, (ids: { assistant: string; chat: string }) => Promise<unknown>>> = {
    "an assistant": ({ assistant }) => running.api.get(`/rest/v1/assistants/${assistant}`, 200),
    "a list of assistants": () => running.api.get("/rest/v1/assistants", 200),
    "a list of assistants, searched": () => running.api.get("/rest/v1/assistants?search=a&order=asc", 200),
    "a configuration": ({ assistant }) => running.api.get(`/rest/v1/assistants/${assistant}/chat`, 200),
    "logs of an assistant": ({ assistant }) => running.api.get(`/rest/v1/assistants/${assistant}/logs`, 200),
    "logs of a channel, searched": ({ assistant }) =>
      running.api.get(`/rest/v1/assistants/${assistant}/logs?type=TEXT&search=a`, 200),
    "a list of files": () => running.api.get("/rest/v1/files", 200),
    "the dashboard": () => running.api.gql(DASHBOARD),
    "chats of an assistant": ({ assistant }) =>
      running.api.gql(
        `{ assistant(id: "${assistant}") { chats(first: 2, filter: { channel: TEXT }) { nodes { id messages(last: 5) { id } } } } }`,
      ),
    "a new assistant": () =>
      running.api.post("/rest/v1/assistants", { name: "Ada", variables: { a: 1 } }, 200),
    "a changed configuration": ({ assistant }) =>
      running.api.patch(`/rest/v1/assistants/${assistant}/voice`, { prompt: "Be kind.", functions: [] }, 200),
    "a changed theme": ({ assistant }) =>
      running.api.patch(`/rest/v1/assistants/${assistant}/theme`, { theme: { title: "Ask us" } }, 200),
    analytics: () =>
      running.api.gql(
        `{ analytics(input: { from: "2026-01-01T00:00:00Z", to: "2026-01-03T00:00:00Z" }) {
          totals { conversations } days { date } assistants { name } endReasons { reason } functions { name }
          unansweredQuestions(first: 3) { question } lengths { messages { count } } webhooks { deliveries } } }`,
      ),
  };

  const ids = { assistant: "", chat: "" };
  beforeAll(async () => {
    ids.assistant = await newAssistant(running.api);
    ids.chat = await newChat(running.api, ids.assistant);
    await say(running.api, ids.chat, "Anything");
  });

  test.each(Object.keys(REQUESTS))("%s", async (name) => {
    await REQUESTS[name]!(ids);
    const compiled = jest.spyOn(Client.prototype, "queryCompiler");
    // Private, but the one place where the text of a statement is built.
    const built = jest.spyOn(Statement.prototype as unknown as { textOf(): unknown }, "textOf");
    await REQUESTS[name]!(ids);
    expect([compiled.mock.calls.length, built.mock.calls.length]).toEqual([0, 0]);
  });
});
