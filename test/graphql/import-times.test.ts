import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { importerOf } from "../support/importers";

const running = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });
let importer: Api;
beforeAll(async () => {
  importer = await importerOf(running.api);
});

const CREATED = "2022-01-01T00:00:00.000Z";
const UPDATED = "2022-12-24T00:00:00.000Z";
const LATER = "2023-01-02T03:04:05.678Z";
const HOOK = { url: "https://example.com/hook", secret: "s", name: "A" };
const NODE = { id: "times/start", type: "START", name: "Start" };

/** Kinds of records with the mutation that imports them, one record, and a change of it. */
const KINDS: [string, string, object, object][] = [
  ["Assistant", "Assistant", { name: "A" }, { name: "B" }],
  ["Project", "Project", { name: "A" }, { name: "B" }],
  ["WebhookDestination", "WebhookDestination", HOOK, { name: "B" }],
  ["Workflow", "Workflow", { name: "A", nodes: [], edges: [] }, { name: "B" }],
  ["Deployment", "Deployment", { type: "API", assistantId: "times", enabled: true }, { enabled: false }],
];

describe.each(KINDS)("an imported %s", (_, kind, record, change) => {
  const run = async (more: object) => {
    const query = `mutation ($input: Import${kind}Input!) { result: import${kind}(input: $input) { createdAt updatedAt } }`;
    return (await importer.gql(query, { input: { id: "times", ...record, ...more } })).result;
  };

  test("keeps the times of its creation and of its last change, also of a later one", async () => {
    const times = { createdAt: CREATED, updatedAt: UPDATED };
    expect(await run(times)).toEqual(times);
    expect(await run(times)).toEqual(times);
    expect(await run({ ...change, createdAt: CREATED, updatedAt: LATER })).toEqual({
      ...{ createdAt: CREATED, updatedAt: LATER },
    });
    expect(await run(times)).toEqual(times);
  });

  test("was changed when it was created if only that time is given, and now if a change has none", async () => {
    const id = `${kind} without a time`;
    expect(await run({ id, createdAt: CREATED })).toEqual({ createdAt: CREATED, updatedAt: CREATED });
    const { createdAt, updatedAt } = await run({ id, ...change });
    expect([createdAt, updatedAt > LATER]).toEqual([CREATED, true]);
  });
});

test("nodes and edges of an imported workflow keep their times", async () => {
  const end = { id: "times/end", type: "END", name: "End" };
  const edge = { id: "times/edge", fromNodeId: NODE.id, toNodeId: end.id };
  const query = `mutation ($input: ImportWorkflowInput!) { importWorkflow(input: $input) {
    nodes { createdAt updatedAt } edges { createdAt updatedAt } } }`;
  const run = async (name: string, times: object) => {
    const nodes = [NODE, end].map((node) => ({ ...node, name, ...times }));
    const edges = [{ ...edge, description: name, ...times }];
    return (await importer.gql(query, { input: { id: "with parts", name: "A", nodes, edges } }))
      .importWorkflow;
  };
  for (const [name, updatedAt] of [
    ["One", UPDATED],
    ["Two", LATER],
  ] as const) {
    const times = { createdAt: CREATED, updatedAt };
    expect(await run(name, times)).toEqual({ nodes: [times, times], edges: [times] });
  }
});

describe("an imported webhook destination that is disabled at the source", () => {
  const run = async (more: object) => {
    const query =
      "mutation ($input: ImportWebhookDestinationInput!) { result: importWebhookDestination(input: $input) { enabled } }";
    return (await importer.gql(query, { input: { id: "disabled", ...HOOK, ...more } })).result.enabled;
  };

  test("is disabled here, until it is enabled at the source or changed here", async () => {
    expect(await run({ enabled: false })).toBe(false);
    expect(await run({})).toBe(false);
    expect(await run({ enabled: true })).toBe(true);
    expect(await run({ enabled: false })).toBe(false);
    await running.api.patch("/rest/v1/settings/disabled", { name: "Changed" }, 200);
    const { webhookDestination } = await running.api.gql(
      '{ webhookDestination(id: "disabled") { enabled } }',
    );
    expect(webhookDestination.enabled).toBe(true);
  });

  test("gets no event", async () => {
    await run({ enabled: false });
    const error = await running.api.gqlError('mutation { testWebhookDestination(id: "disabled") { id } }');
    expect(error.extensions.code).toBe("WEBHOOK_DESTINATION_DISABLED");
  });
});

describe("an imported call", () => {
  const LOGS =
    'mutation ($logs: [ImportLogInput!]!) { importLogs(assistantId: "times", logs: $logs) { imported existing } }';
  const CALL = "query ($id: ID!) { call(id: $id) { kind status createdAt dialedAt answeredAt endedAt } }";
  const call = { kind: "WEB", dialedAt: "2022-01-01T00:00:01.000Z", answeredAt: "2022-01-01T00:00:03.000Z" };
  const log = {
    ...{ id: "call/1", type: "VOICE", createdAt: CREATED, endedAt: "2022-01-01T00:01:00.000Z" },
    ...{ messages: [], call },
  };
  beforeAll(async () => {
    await importer.gql("mutation ($input: ImportAssistantInput!) { importAssistant(input: $input) { id } }", {
      input: { id: "times", name: "A" },
    });
  });

  test("keeps its times, and stays as it is when it is imported again", async () => {
    const result = { status: "ended", createdAt: CREATED, endedAt: log.endedAt, ...call };
    expect((await importer.gql(LOGS, { logs: [log, log] })).importLogs.imported).toBe(1);
    expect((await importer.gql(CALL, { id: log.id })).call).toEqual(result);
    const changed = { ...log, call: { kind: "PHONE" } };
    expect((await importer.gql(LOGS, { logs: [changed] })).importLogs.existing).toEqual([log.id]);
    expect((await importer.gql(CALL, { id: log.id })).call).toEqual(result);
  });

  test("is refused on another channel", async () => {
    const error = await importer.gqlError(LOGS, { logs: [{ ...log, id: "call/2", type: "TEXT" }] });
    expect(error.extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "logs.0.call" }] });
  });
});
