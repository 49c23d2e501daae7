import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import { useApp } from "../support/app";
import { newAssistant, newChat, UNKNOWN_ID } from "../support/factories";
import { operationsOf, run, variables } from "../support/operations";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { Subscriber } from "../support/subscriber";
import { until } from "../support/until";
import { worlds } from "../support/world";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" });
const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const mutations = operationsOf(schema).filter(({ kind, name }) => kind === "mutation" && name in variables);
const another = worlds(() => running.api);

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Follows a subscription with one field. */
function follow<T>(query: string, values: object = {}, credential = running.api.headers) {
  const subscriber = new Subscriber(running.url, { ...credential });
  stops.push(() => subscriber.close());
  const heard: T[] = [];
  const end = subscriber.run(query, { ...values }, (data) => {
    heard.push(...(Object.values(data as object) as T[]));
  });
  return { heard, end };
}

/** Position before everything that follows. */
const now = async (): Promise<string> =>
  String((await running.api.gql("{ auditHead { position } }")).auditHead.position);

interface Change {
  readonly id: string;
  readonly recordType: string;
  readonly recordId: string | null;
  readonly operation: string;
  readonly fields: readonly string[];
  readonly node: { readonly id: string; readonly __typename: string } | null;
}
const CHANGES = `subscription ($after: ID, $recordTypes: [String!]) {
  organizationChanges(after: $after, recordTypes: $recordTypes) {
    id recordType recordId operation fields changedAt node { __typename id } } }`;

/** Mutations that organizationChanges does not tell, with the reason. */
const NOT_TOLD: Record<string, readonly string[]> = {
  "is about a conversation, which has events": [
    ...[
      "startChat",
      "postMessage",
      "endChat",
      "deleteLog",
      "deleteLogs",
      "importLogs",
      "placeAssistantCall",
      "placeWorkflowCall",
    ],
    ...[
      "startWebCall",
      "cancelCall",
      "startWidgetCall",
      "startWidgetChat",
      "postWidgetMessage",
      "updateWidgetChat",
    ],
    "endWidgetChat",
  ],
  "is about a person": ["forgetEndUser", "exportEndUser", "importEndUserFacts"],
  "makes deliveries, which deliveryChanges tells": [
    ...["redeliver", "replayEvents", "testWebhookDestination", "sendSampleEvents"],
  ],
  "changes no record": [
    ...[
      "testModel",
      "testFunction",
      "testToolServer",
      "generateWebhookSecret",
      "identitySecret",
      "issueToken",
      "issueAnalyticsToken",
    ],
    "startWidgetSession",
  ],
};

test("organizationChanges tells every mutation of a record, in order, with the record as it is then", async () => {
  const silent = Object.values(NOT_TOLD).flat();
  const after = await now();
  const told = mutations.filter(({ name }) => !silent.includes(name));
  expect(told.length).toBeGreaterThan(35);
  for (const operation of mutations) {
    const example = variables[operation.name]!;
    const { code } = await run(running.api, operation, example(await another(example)));
    if (!silent.includes(operation.name)) expect([operation.name, code]).toEqual([operation.name, undefined]);
  }
  const { heard } = follow<Change>(CHANGES, { after });
  const wanted = told.map(({ name }) => name);
  // Mutations also prepare the data for others, so each comes once or more.
  await until(() => wanted.every((name) => heard.some(({ operation }) => operation === name)));
  const names = new Set(heard.map(({ operation }) => operation));
  expect([...names].filter((name) => silent.includes(name))).toEqual([]);
  for (const { operation, recordType, recordId, node, fields } of heard) {
    const isNode = !["RagSettings", "ModelCredential", "ModelMapping"].includes(recordType);
    if (!/^(delete|disconnect)/.test(operation) && isNode && node)
      expect([operation, node.__typename, node.id.split(".")[0]]).toEqual([operation, recordType, recordId]);
    if (/^update/.test(operation)) expect([operation, fields.length > 0]).toEqual([operation, true]);
  }
});

describe("organizationChanges", () => {
  test("tells changes over REST, resumes after each, and selects types of records", async () => {
    const after = await now();
    const id = await newAssistant(running.api);
    await running.api.patch(`/rest/v1/assistants/${id}/voice`, { prompt: "Be kind." }, 200);
    await running.api.post("/rest/v1/organization/keys", {}, 200);
    await running.api.patch(`/rest/v1/assistants/${id}`, { name: "Bea" }, 200);
    const all = follow<Change>(CHANGES, { after }).heard;
    await until(() => all.length >= 4);
    expect(all.map(({ operation, recordType, fields }) => [operation, recordType, fields])).toEqual([
      ["createAssistant", "Assistant", ["name"]],
      ["updateVoiceConfiguration", "VoiceConfiguration", ["prompt"]],
      ["createKey", "Key", []],
      ["updateAssistant", "Assistant", ["name"]],
    ]);
    expect(all[1]!.node).toEqual({ __typename: "VoiceConfiguration", id: `${id}.voice` });
    for (const [index, change] of all.entries()) {
      const rest = follow<Change>(CHANGES, { after: change.id }).heard;
      await until(() => rest.length >= all.length - index - 1);
      expect(rest).toEqual(all.slice(index + 1));
    }
    const keys = follow<Change>(CHANGES, { after, recordTypes: ["Key"] }).heard;
    await until(() => keys.length > 0);
    expect(keys.map(({ operation }) => operation)).toEqual(["createKey"]);
  });

  test.each([
    [{ recordTypes: ["Chat"] }, "recordTypes.0"],
    [{ recordTypes: [] }, "recordTypes"],
    [{ after: "later" }, "after"],
    [{ after: "999999999" }, "after"],
  ])("refuses %j", async (values, path) => {
    const [error] = (await follow(CHANGES, values).end) as {
      extensions: { code: string; details: { path: string }[] };
    }[];
    expect([error!.extensions.code, error!.extensions.details.map((one) => one.path)]).toEqual([
      "BAD_USER_INPUT",
      [path],
    ]);
  });

  test("tells nothing of another organization", async () => {
    const other = await running.otherOrganization();
    const mine = follow<Change>(CHANGES, { after: await now() }).heard;
    await newAssistant(other.api);
    const id = await newAssistant(running.api);
    await until(() => mine.length > 0);
    expect(mine.map(({ recordId }) => recordId)).toEqual([id]);
  });
});

interface AssistantChange {
  readonly assistantId: string;
  readonly operation: string;
  readonly assistant: { readonly name: string } | null;
}
const OF_ASSISTANTS = `subscription ($id: ID, $after: ID) {
  assistantChanges(assistantId: $id, after: $after) { id assistantId recordType operation assistant { name } } }`;

describe("assistantChanges", () => {
  test("tells each change of one assistant with its present state, to its deletion", async () => {
    const id = await newAssistant(running.api);
    const { heard } = follow<AssistantChange>(OF_ASSISTANTS, { id, after: await now() });
    const path = `/rest/v1/assistants/${id}`;
    const names: unknown[] = [];
    const next = async (change: () => Promise<unknown>) => {
      const count = heard.length;
      await change();
      await newAssistant(running.api);
      await until(() => heard.length > count);
      names.push([heard.at(-1)!.operation, heard.at(-1)!.assistant?.name]);
    };
    await next(() => running.api.patch(path, { name: "Bea" }, 200));
    await next(() => running.api.patch(path, { name: "Cleo" }, 200));
    await next(() => running.api.patch(`${path}/sms`, { prompt: "Be brief." }, 200));
    await next(() => running.api.delete(path, 200));
    expect(names).toEqual([
      ["updateAssistant", "Bea"],
      ["updateAssistant", "Cleo"],
      ["updateSmsConfiguration", "Cleo"],
      ["deleteAssistant", undefined],
    ]);
    expect(new Set(heard.map(({ assistantId }) => assistantId))).toEqual(new Set([id]));
  });

  test("names the new assistant of a duplicate, and needs no id", async () => {
    const source = await newAssistant(running.api);
    const { heard } = follow<AssistantChange>(OF_ASSISTANTS, { after: await now() });
    const { id } = await running.api.post(`/rest/v1/assistants/duplicate/${source}`, {}, 200);
    await until(() => heard.length > 0);
    expect(heard).toMatchObject([
      { operation: "duplicateAssistant", assistantId: id, assistant: { name: "Ada (copy)" } },
    ]);
  });

  test("tells a key limited to an assistant nothing of the others", async () => {
    const [own, other] = [await newAssistant(running.api), await newAssistant(running.api)];
    const { value } = await running.api.post("/rest/v1/organization/keys", { assistantIds: [own] }, 200);
    const after = await now();
    for (const id of [other, own]) await running.api.patch(`/rest/v1/assistants/${id}`, { name: "Bea" }, 200);
    const { heard } = follow<AssistantChange>(OF_ASSISTANTS, { after }, { "X-API-Key": value });
    await until(() => heard.length > 0);
    expect(heard.map(({ assistantId }) => assistantId)).toEqual([own]);
    const errors = (await follow(OF_ASSISTANTS, { id: other }, { "X-API-Key": value }).end) as object[];
    expect(errors).toMatchObject([{ extensions: { code: "ASSISTANT_NOT_FOUND" } }]);
  });

  test("refuses an unknown assistant", async () => {
    const errors = (await follow(OF_ASSISTANTS, { id: UNKNOWN_ID }).end) as object[];
    expect(errors).toMatchObject([{ extensions: { code: "ASSISTANT_NOT_FOUND" } }]);
  });
});

describe("deliveryChanges", () => {
  interface Delivery {
    readonly id: string;
    readonly status: string;
    readonly attempts: readonly { readonly status: number }[];
    readonly event: { readonly name: string };
  }
  const DELIVERIES = `subscription ($id: ID) {
    deliveryChanges(destinationId: $id) { id status attempts { status } event { name } } }`;
  const stateOf = ({ status, attempts, event }: Delivery) => [
    event.name,
    status,
    ...attempts.map((one) => one.status),
  ];

  async function destination(status: number): Promise<string> {
    const receiver = await new Receiver((res) => void res.writeHead(status).end()).start();
    afterTest(() => receiver.stop());
    const body = { url: receiver.url, secret: "s", events: ["session-start"] };
    return (await running.api.post("/rest/v1/settings", body, 201)).id as string;
  }

  let assistantId: string;
  beforeAll(async () => {
    assistantId = await newAssistant(running.api);
  });

  test("tells each attempt of the deliveries to a destination, and none to others", async () => {
    const [works, fails] = [await destination(204), await destination(500)];
    const of = (id: string) => follow<Delivery>(DELIVERIES, { id }).heard;
    const [worked, failed, all] = [of(works), of(fails), follow<Delivery>(DELIVERIES).heard];
    const last = <T>(list: readonly T[]) => list.at(-1);
    await until(async () => {
      if (worked.length === 0) await newChat(running.api, assistantId);
      return last(worked)?.status === "DELIVERED" && last(failed)?.attempts.length === 1;
    });
    expect(stateOf(last(worked)!)).toEqual(["session-start", "DELIVERED", 204]);
    expect(stateOf(last(failed)!)).toEqual(["session-start", "PENDING", 500]);
    const known = new Set(all.map(({ id }) => id));
    await until(() =>
      [...worked, ...failed].every(({ id }) => known.has(id) || all.some((one) => one.id === id)),
    );
    expect(worked.some(({ id }) => failed.some((one) => one.id === id))).toBe(false);
    // A new subscriber begins with those that are pending.
    const later = of(fails);
    await until(() => later.length > 0);
    expect(new Set(later.map(({ status }) => status))).toEqual(new Set(["PENDING"]));
    await running.api.delete(`/rest/v1/settings/${fails}`, 200);
    await running.api.delete(`/rest/v1/settings/${works}`, 200);
  });

  test("begins with those of one transaction in the order of their ids", async () => {
    const id = await destination(500);
    await newChat(running.api, assistantId);
    const { query } = running.database;
    await query(
      `insert into deliveries (organization_id, id, event_id, destination_id, next_attempt_at)
       select d.organization_id, md5(n::text), d.event_id, d.destination_id, now() + interval '1 hour'
       from deliveries d, generate_series(1, 50) n where d.destination_id = $1`,
      [id],
    );
    const made = await query<{ id: string }>(
      `select id from deliveries where destination_id = $1 and length(id) = 32 order by id collate "C"`,
      [id],
    );
    const { heard } = follow<Delivery>(DELIVERIES, { id });
    const found = () => [...new Set(heard.map((one) => one.id))].filter((one) => one.length === 32);
    await until(() => found().length === 50);
    expect(found()).toEqual(made.map((one) => one.id));
    await running.api.delete(`/rest/v1/settings/${id}`, 200);
  });

  test("tells that deliveries are given up when the destination is disabled", async () => {
    const id = await destination(410);
    const { heard } = follow<Delivery>(DELIVERIES, { id });
    await until(async () => {
      if (heard.length === 0) await newChat(running.api, assistantId);
      return heard.some(({ status }) => status === "FAILED");
    });
    await running.api.delete(`/rest/v1/settings/${id}`, 200);
  });

  test("refuses an unknown destination", async () => {
    const errors = (await follow(DELIVERIES, { id: UNKNOWN_ID }).end) as object[];
    expect(errors).toMatchObject([{ extensions: { code: "WEBHOOK_DESTINATION_NOT_FOUND" } }]);
  });
});

test("each event of callEvents has its records as they are then", async () => {
  const id = await newAssistant(running.api);
  const place = `mutation ($input: PlaceAssistantCallInput!) { placeAssistantCall(input: $input) { id } }`;
  const input = { assistantId: id, phoneNumber: "+41445550100" };
  const { placeAssistantCall: call } = await running.api.gql(place, { input });
  const query =
    "subscription ($callId: ID) { callEvents(callId: $callId) { status call { assistant { name } } } }";
  const { heard } = follow<{ call: { assistant: { name: string } } }>(query, { callId: call.id });
  const names = new Set<string>();
  await until(() => {
    for (const one of heard) names.add(one.call.assistant.name);
    return heard.length > 0;
  });
  await running.api.patch(`/rest/v1/assistants/${id}`, { name: "Bea" }, 200);
  const count = heard.length;
  await running.api.gql("mutation ($id: ID!) { cancelCall(id: $id) { id } }", { id: call.id });
  await until(() => heard.length > count);
  expect(heard.at(-1)!.call.assistant.name).toBe("Bea");
});
