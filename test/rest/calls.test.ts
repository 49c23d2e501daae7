import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { checkPhoneNumber } from "../../src/channels/calls/phone-number";
import type { Scope } from "../../src/platform/database/scope";
import { startApp, useApp } from "../support/app";
import { callOf, NUMBER, place, speaker } from "../support/calls";
import { expectError } from "../support/errors";
import { newAssistant, quietAssistant, UNKNOWN_ID } from "../support/factories";
import { connect } from "../support/sms";
import { askToForget } from "../support/erasures";
import { VisitorClient } from "../support/visitor";

const running = useApp();
const V1 = "/rest/v1/call/phone";
const V2 = "/rest/v2/call/phone";
const INITIATE = "/rest/v1/assistants/phone-calls/initiate";

/** 4,096 characters of four bytes each, which PostgreSQL can hardly compress. */
const incompressible = () =>
  String.fromCodePoint(...Array.from(randomBytes(4096), (byte, index) => 0x1f300 + byte + (index % 4) * 256));

describe("placing a call", () => {
  test.each([V1, INITIATE])("%s returns 200 with the id that its chat and its log have too", async (path) => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const answer = await api.request("POST", path, { assistantId, phoneNumber: "+41445550100" });
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ["id"]]);
    const { id } = answer.body;
    const { chat } = await api.gql(
      "query ($id: ID!) { chat(id: $id) { channel status phoneNumber label } }",
      { id },
    );
    expect(chat).toEqual({
      channel: "VOICE",
      status: "queued",
      phoneNumber: "+41445550100",
      label: "+41445550100",
    });
    const log = await api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 200);
    expect(log).toMatchObject({
      id,
      type: "VOICE",
      recordingUrl: "",
      metadata: { status: "queued", phoneNumber: "+41445550100" },
    });
  });

  test("stores the callee and the metadata: in the log, in its search, and with the call", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const person = {
      userName: "Grace Hopper",
      userId: "user-7",
      anonymousId: "visitor-3",
      externalId: "order-1047",
    };
    const metadata = { campaign: "spring", nested: { deep: [1, "two"] } };
    const { id } = await api.post(
      V1,
      { assistantId, phoneNumber: NUMBER.answers, ...person, metadata, variables: { a: 1 } },
      200,
    );
    await api.post(V1, { assistantId, phoneNumber: NUMBER.answers }, 200);
    const { customerMetadata } = await api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 200);
    expect(customerMetadata).toEqual({ ...metadata, ...person });
    for (const search of ["hopper", "USER-7", "visitor-3", "order-10", "spring", "two"]) {
      const found = await api.get(`/rest/v1/assistants/${assistantId}/logs?search=${search}`, 200);
      expect(found).toEqual([{ id, type: "VOICE", label: "Grace Hopper", createdAt: expect.any(String) }]);
    }
    const { call } = await api.gql(
      "query ($id: ID!) { call(id: $id) { userName userId anonymousId externalId metadata variables } }",
      { id },
    );
    expect(call).toEqual({ ...person, metadata, variables: { a: 1 } });
  });

  test("remembers the person under userId, else under anonymousId", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    await api.post(
      V1,
      { assistantId, phoneNumber: NUMBER.answers, userId: "known", anonymousId: "unseen" },
      200,
    );
    await api.post(V1, { assistantId, phoneNumber: NUMBER.answers, anonymousId: "anonymous" }, 200);
    const person = async (uniqueId: string) =>
      (
        await api.gql("query ($uniqueId: String!) { endUser(uniqueId: $uniqueId) { uniqueId } }", {
          uniqueId,
        })
      ).endUser;
    expect(await person("known")).toEqual({ uniqueId: "known" });
    expect(await person("anonymous")).toEqual({ uniqueId: "anonymous" });
    expect(await person("unseen")).toBeNull();
  });

  const NAMES = ["userName", "userId", "anonymousId", "externalId"];

  test("treats an empty text as no name and no id", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const blank = Object.fromEntries(NAMES.map((name) => [name, ""]));
    const { id } = await api.post(V1, { assistantId, phoneNumber: NUMBER.answers, ...blank }, 200);
    const log = await api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 200);
    expect(log).toMatchObject({ customerMetadata: {} });
    const { call } = await api.gql(`query ($id: ID!) { call(id: $id) { ${NAMES.join(" ")} } }`, { id });
    expect(call).toEqual(Object.fromEntries(NAMES.map((name) => [name, null])));
  });

  test("accepts names and ids of 4,096 characters, and finds the call and the person by them", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const long = Object.fromEntries(NAMES.map((name) => [name, incompressible()]));
    const { id } = await api.post(V1, { assistantId, phoneNumber: NUMBER.answers, ...long }, 200);
    const other = {
      ...long,
      userId: `${long.userId!.slice(0, -2)}-`,
      externalId: `${long.externalId!.slice(0, -2)}-`,
    };
    await api.post(V1, { assistantId, phoneNumber: NUMBER.answers, ...other }, 200);
    const { customerMetadata } = await api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 200);
    expect(customerMetadata).toEqual(long);
    for (const name of ["userId", "externalId"]) {
      const { calls } = await api.gql(
        "query ($filter: CallFilter) { calls(filter: $filter) { nodes { id } } }",
        { filter: { [name]: long[name] } },
      );
      expect(calls.nodes).toEqual([{ id }]);
    }
    const known = async (uniqueId?: string) =>
      (await api.gql("query ($id: String!) { endUser(uniqueId: $id) { facts { text } } }", { id: uniqueId }))
        .endUser;
    expect(await known(long.userId)).toEqual({ facts: [] });
    const asked = await askToForget(running, { userId: long.userId! });
    expect(asked).toMatchObject({ matched: 1 });
  });

  test("happens once per Idempotency-Key", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const body = { assistantId, phoneNumber: NUMBER.answers };
    const key = { "Idempotency-Key": "call-1" };
    const [first, second] = [
      await api.request("POST", V1, body, key),
      await api.request("POST", V1, body, key),
    ];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expectError(await api.request("POST", V1, { ...body, userId: "x" }, key), 422, "IDEMPOTENCY_KEY_REUSED");
    const { calls } = await api.gql(
      "query ($id: ID!) { calls(filter: { assistantId: $id }) { nodes { id } } }",
      { id: assistantId },
    );
    expect(calls.nodes).toEqual([first.body]);
  });

  test("encrypts the secret of the call, and shows it nowhere", async () => {
    const { api } = running;
    const id = await place(api, await newAssistant(api), NUMBER.answers);
    const rows = await running.database.query("select * from calls where chat_id = $1", [id]);
    expect(rows).toHaveLength(1);
    const { data } = (await api.graphql('{ __type(name: "Call") { fields { name } } }')).body;
    expect(JSON.stringify(data)).not.toMatch(/secret/i);
    const lookups = await running.database.query<{ lookup: string }>(
      "select lookup from call_lookup where chat_id = $1",
      [id],
    );
    expect(lookups.map(({ lookup }) => lookup.split(":")[0]).sort()).toEqual(["call", "secret"]);
  });
});

describe("an invalid call request", () => {
  const refused = async (path: string, body: object, status: number, code: string) => {
    const answer = await running.api.request("POST", path, body);
    expectError(answer, status, code);
    return answer.body;
  };

  test.each([
    ["", /empty/],
    ["12025550100", /E\.164/],
    ["+1 202 555 0100", /E\.164/],
    ["+1-202-555-0100", /E\.164/],
    ["+0123456789", /E\.164/],
    ["+1", /E\.164/],
    ["+1234567890123456", /E\.164/],
    ["tel:+12025550100", /E\.164/],
    ["911", /E\.164/],
    ["+1911", /emergency/],
    ["+44999", /emergency/],
    ["+49112", /emergency/],
    ["+41144", /emergency/],
    ["+4132", /short/],
    ["+19005551234", /premium/],
    ["+449098790000", /premium/],
    ["+41900123456", /premium/],
    ["+15555551234", /valid number/],
    ["+12025", /short/],
    ["+999123456789", /telephone number/],
    ["+1202555010٠", /E\.164/],
  ])("to %j returns 400 with the rule that it breaks", async (phoneNumber, rule) => {
    const assistantId = await newAssistant(running.api);
    for (const path of [V1, INITIATE]) {
      const { details, message } = await refused(path, { assistantId, phoneNumber }, 400, "BAD_USER_INPUT");
      expect(details).toEqual([{ path: "phoneNumber", message: expect.stringMatching(rule) }]);
      expect(message).toContain("phoneNumber");
    }
  });

  test.each([
    ["assistantId", { phoneNumber: NUMBER.answers }],
    ["phoneNumber", { assistantId: UNKNOWN_ID }],
    ["phoneNumber", { assistantId: UNKNOWN_ID, phoneNumber: null }],
    ["phoneNumber", { assistantId: UNKNOWN_ID, phoneNumber: 12025550100 }],
    ["userName", { assistantId: UNKNOWN_ID, phoneNumber: NUMBER.answers, userName: null }],
    ["externalId", { assistantId: UNKNOWN_ID, phoneNumber: NUMBER.answers, externalId: "x".repeat(4097) }],
    ["anonymousId", { assistantId: UNKNOWN_ID, phoneNumber: NUMBER.answers, anonymousId: {} }],
    ["metadata", { assistantId: UNKNOWN_ID, phoneNumber: NUMBER.answers, metadata: [] }],
    ["variables", { assistantId: UNKNOWN_ID, phoneNumber: NUMBER.answers, variables: "x" }],
    ["workflowId", { assistantId: UNKNOWN_ID, phoneNumber: NUMBER.answers, workflowId: UNKNOWN_ID }],
  ])("with a wrong %s returns 400: %j", async (path, body) => {
    const { details } = await refused(V1, body, 400, "BAD_USER_INPUT");
    expect(details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });

  test("with an assistant that is unknown or of another organization returns 400, with a template 403", async () => {
    const { api } = running;
    const { api: theirs } = await running.otherOrganization();
    const [template] = (await api.get("/rest/v1/assistants/templates", 200)).data;
    for (const assistantId of [UNKNOWN_ID, "x", await newAssistant(theirs)])
      await refused(V1, { assistantId, phoneNumber: NUMBER.answers }, 400, "ASSISTANT_NOT_FOUND");
    await refused(V1, { assistantId: template.id, phoneNumber: NUMBER.answers }, 403, "TEMPLATE_READ_ONLY");
    const deleted = await newAssistant(api);
    await api.delete(`/rest/v1/assistants/${deleted}`, 200);
    await refused(V1, { assistantId: deleted, phoneNumber: NUMBER.answers }, 400, "ASSISTANT_NOT_FOUND");
  });

  test("with an unknown workflow or deployment, with none or with both, returns 400", async () => {
    const to = { phoneNumber: NUMBER.answers };
    await refused(V2, { ...to, workflowId: UNKNOWN_ID }, 400, "WORKFLOW_NOT_FOUND");
    await refused(V2, { ...to, deploymentId: UNKNOWN_ID }, 400, "DEPLOYMENT_NOT_FOUND");
    for (const body of [to, { ...to, workflowId: "a", deploymentId: "b" }]) {
      const { details } = await refused(V2, body, 400, "BAD_USER_INPUT");
      expect(details.map(({ path }: { path: string }) => path)).toEqual(["workflowId", "deploymentId"]);
    }
    await refused(V2, { ...to, assistantId: UNKNOWN_ID }, 400, "BAD_USER_INPUT");
  });

  test("with a PUBLIC key returns 403, with a token 401", async () => {
    const { api } = running;
    const { token } = await api.post("/rest/v1/organization/token", {}, 200);
    for (const path of [V1, V2, INITIATE]) {
      const body = { [path === V2 ? "workflowId" : "assistantId"]: UNKNOWN_ID, phoneNumber: NUMBER.answers };
      expectError(
        await api.as({ "X-API-Key": running.publicKey }).request("POST", path, body),
        403,
        "FORBIDDEN",
      );
      expectError(
        await api.as({ Authorization: `Bearer ${token}` }).request("POST", path, body),
        401,
        "UNAUTHENTICATED",
      );
    }
  });

  test("stores nothing", async () => {
    const { api } = await running.otherOrganization();
    const assistantId = await newAssistant(api);
    await api.post(V1, { assistantId, phoneNumber: "+1911" }, 400);
    expect(await api.gql("{ calls { nodes { id } } events { nodes { id } } }")).toEqual({
      calls: { nodes: [] },
      events: { nodes: [] },
    });
  });
});

describe("allowed countries for calls", () => {
  test("are those of CALL_COUNTRIES", async () => {
    const { database } = running;
    const app = await startApp(database, { CALL_COUNTRIES: "us, CH" });
    try {
      const assistantId = await newAssistant(app.api);
      await app.api.post(V1, { assistantId, phoneNumber: "+41445550100" }, 200);
      await app.api.post(V1, { assistantId, phoneNumber: "+14155552671" }, 200);
      for (const phoneNumber of ["+4930123456", "+88213300655", "+16135551234"]) {
        const answer = await app.api.request("POST", V1, { assistantId, phoneNumber });
        expectError(answer, 400, "BAD_USER_INPUT");
        expect(answer.body.message).toContain("US, CH: calls to ");
        expect(answer.body.message.includes("CALL_COUNTRIES")).toBe(!phoneNumber.startsWith("+882"));
      }
    } finally {
      await app.stop();
    }
  });

  test("include all countries without the setting; numbers of the simulator work only with it", () => {
    const scope = (real: boolean, countries?: readonly string[]) => {
      const engine = { takes: (number: string) => !real && number.startsWith("+155501") };
      return { ports: { voice: { engine, countries } } } as unknown as Scope;
    };
    expect(() => checkPhoneNumber(scope(true), "+4930123456", {})).not.toThrow();
    expect(() => checkPhoneNumber(scope(false, ["CH"]), "+15550100", {})).not.toThrow();
    expect(() => checkPhoneNumber(scope(true), "+15550100", {})).toThrow("phoneNumber");
  });

  test("are that of the connected number without the setting, also in simulated calls", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const { id } = await connect(running, [assistantId], { phoneNumber: "+12025550190" });
    const abroad = await api.request("POST", V1, { assistantId, phoneNumber: "+41445550100" });
    expectError(abroad, 400, "BAD_USER_INPUT");
    expect(abroad.body.message).toBe(
      "phoneNumber: must be a number of US, as the number that calls: calls to CH are not allowed, unless the operator adds it to CALL_COUNTRIES",
    );
    await api.post(V1, { assistantId, phoneNumber: "+14155552671" }, 200);
    await api.post(V1, { assistantId, phoneNumber: "+15550100" }, 200);
    await api.gql("mutation ($id: ID!) { disconnectTelephony(id: $id) { id } }", { id });
  });
});

describe("a call from a web page", () => {
  const OPEN = "/rest/v1/call/web";
  const page = () => running.api.as({ "X-Public-Key": running.publicKey });

  test.each([OPEN, "/rest/v2/call/web"])(
    "%s returns the address of its page with the session in the fragment",
    async (path) => {
      const { api } = running;
      const assistantId = await speaker(api, { initialMessage: "Hello, {name}." });
      const body = {
        assistantId,
        externalId: "e-7",
        variables: { name: "Grace" },
        metadata: { page: "/pricing" },
      };
      const answer = await page().post(path, body, 200);
      expect(Object.keys(answer)).toEqual(["webCallUrl"]);
      const url = new URL(answer.webCallUrl);
      expect([url.origin, url.pathname, [...url.searchParams.keys()]]).toEqual([
        running.url,
        "/widget/voice",
        ["chat"],
      ]);
      expect(url.hash).toMatch(/^#token=ey/);
      expect(answer.webCallUrl).not.toContain(running.publicKey);
      const call = await callOf(api, url.searchParams.get("chat")!);
      expect(call).toMatchObject({ kind: "WEB", status: "in-progress", phoneNumber: null });
      expect(call.chat.messages).toMatchObject([
        { role: "ASSISTANT", content: "Hello, Grace.", metadata: { greeting: true } },
      ]);
    },
  );

  test("gives its session access to that call only", async () => {
    const { webCallUrl } = await page().post(OPEN, { assistantId: await quietAssistant(running.api) }, 200);
    const url = new URL(webCallUrl);
    const [chat, session] = [url.searchParams.get("chat")!, url.hash.replace("#token=", "")];
    for (const [name, value, status, code] of [
      ["Authorization", `Bearer ${session}`, 403, "FORBIDDEN"],
      ["X-Public-Token", session, 403, "FORBIDDEN"],
      ["X-API-Key", session, 401, "UNAUTHENTICATED"],
    ] as const)
      expectError(
        await running.api.as({ [name]: value }).request("POST", OPEN, { assistantId: UNKNOWN_ID }),
        status,
        code,
      );
    const visitor = new VisitorClient(running.url, session);
    expect(await visitor.post(chat, "Hello?")).toMatchObject({ role: "USER", content: "Hello?" });
    expect(await visitor.chats()).toMatchObject([{ id: chat, channel: "VOICE" }]);
    const { extensions } = await visitor.api.gqlError(
      "mutation { startWidgetChat(input: { channel: VOICE }) { id } }",
    );
    expect(extensions.code).toBe("FORBIDDEN");
    expect(await visitor.end(chat)).toMatchObject({ status: "ended" });
    expect(await callOf(running.api, chat)).toMatchObject({ endedReason: "ended-by-visitor" });
  });

  test.each([
    [{}, "BAD_USER_INPUT"],
    [{ assistantId: "a", workflowId: "b" }, "BAD_USER_INPUT"],
    [{ assistantId: UNKNOWN_ID }, "ASSISTANT_NOT_FOUND"],
    [{ workflowId: UNKNOWN_ID }, "WORKFLOW_NOT_FOUND"],
    [{ assistantId: UNKNOWN_ID, phoneNumber: NUMBER.answers }, "BAD_USER_INPUT"],
  ])("is rejected with an error for %j", async (body, code) => {
    const answer = await page().request("POST", OPEN, body);
    expectError(answer, 400, code);
    expect(answer.body.error).toBe("Bad Request");
  });

  test("is rejected for a workflow with problems, and without a suitable credential", async () => {
    const { createWorkflow } = await running.api.gql(
      'mutation { createWorkflow(input: { name: "Empty" }) { id } }',
    );
    const answer = await page().request("POST", OPEN, { workflowId: createWorkflow.id });
    expectError(answer, 409, "WORKFLOW_HAS_PROBLEMS");
    expect(answer.body.details).toEqual([
      { path: "workflowId", message: expect.stringMatching(/^NO_START: /) },
    ]);
    const { publicKey, secretKey } = running;
    for (const [headers, status] of [
      [{}, 401],
      [{ "X-Public-Key": "unknown" }, 401],
      [{ "X-Public-Key": secretKey }, 401],
      [{ "X-Public-Token": publicKey }, 401],
    ] as const)
      expectError(
        await running.api.as(headers).request("POST", OPEN, { assistantId: UNKNOWN_ID }),
        status,
        "UNAUTHENTICATED",
      );
  });

  test("can be created by any page: CORS allows it", async () => {
    const answer = await running.api.as({ Origin: "https://shop.example" }).request("OPTIONS", OPEN);
    expect(answer.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("x-public-key");
    expect(answer.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("x-public-token");
  });
});
