import { describe, expect, test } from "@jest/globals";
import { callOf, speaker, statusesOf } from "../support/calls";
import { MESSAGES, useEngine } from "../support/engine";
import { until } from "../support/until";
import { connect } from "../support/sms";
import { startSession, VisitorClient } from "../support/visitor";

const SECRET = "one-secret-for-all-calls";
const running = useEngine({ VOICE_ENGINE_SECRET: SECRET, VAPI_PUBLIC_KEY: "public" });
const QUIET = { initialMessage: "" };

const newCall = async () => {
  await running.database.query("update calls set line = null");
  const call = await running.call(await speaker(running.api, QUIET));
  await until(async () => (await callOf(running.api, call.id)).dialedAt !== null); // its id at the engine is known
  return call;
};

/** Number of rejected status reports. */
async function refused(): Promise<number> {
  const { text } = await running.api.request("GET", "/metrics");
  return Number(
    /parley_engine_callbacks_total\{type="status",outcome="refused"\} (\d+)/.exec(text)?.[1] ?? 0,
  );
}

describe("the secret for all calls", () => {
  test("is sent to the engine", async () => {
    const call = await newCall();
    expect(call.headers).toEqual({ "x-vapi-secret": SECRET, "x-parley-call": call.id });
    expect(call.body.assistant.model.headers).toEqual(call.headers);
  });

  test("authorizes callbacks for the call that they name: by our header, our id, or the engine's id", async () => {
    const { api } = running;
    for (const named of ["header", "ours", "theirs"] as const) {
      const call = await newCall();
      const headers = { "x-vapi-secret": SECRET, ...(named === "header" && { "x-parley-call": call.id }) };
      const body = {
        header: {},
        ours: { call: { name: call.id } },
        theirs: { call: { id: call.engineCallId } },
      }[named];
      await api
        .as(headers)
        .post(MESSAGES, { message: { type: "status-update", status: "ringing", ...body } }, 201);
      expect([named, (await callOf(api, call.id)).status]).toEqual([named, "ringing"]);
    }
  });

  test("has no effect if it is wrong or no call is named; nor has the secret of a call", async () => {
    const { api, database } = running;
    const call = await newCall();
    const before = await refused();
    const message = {
      type: "status-update",
      status: "ended",
      call: { id: call.engineCallId, name: call.id },
    };
    const [{ sealed_secret: sealed }] = (await database.query(
      "select sealed_secret from calls where chat_id = $1",
      [call.id],
    )) as [{ sealed_secret: string }];
    for (const secret of ["", "wrong", `${SECRET}x`, sealed])
      await api.as({ "x-vapi-secret": secret, "x-parley-call": call.id }).post(MESSAGES, { message }, 201);
    await api
      .as({ "x-vapi-secret": SECRET })
      .post(MESSAGES, { message: { type: "status-update", status: "ended" } }, 201);
    expect(await statusesOf(api, call.id)).toEqual(["queued"]);
    expect(await refused()).toBe(before + 5);
  });

  test("an inbound call to an unknown number gets an empty answer", async () => {
    const message = {
      type: "assistant-request",
      call: { id: "inbound" },
      phoneNumber: { number: "+14155550100" },
    };
    expect(await running.api.as({ "x-vapi-secret": SECRET }).post(MESSAGES, { message }, 201)).toEqual({});
  });
});

describe("a call to a connected number", () => {
  const DEPLOY = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
  const REQUEST = { type: "assistant-request", customer: { number: "+41783000001" } };

  /** A number with a deployment for its calls. */
  async function deployed(voice: object, more: object = {}) {
    const { api } = running;
    const assistantId = await speaker(api, voice);
    const line = await connect(running, []);
    const input = { type: "PHONE_INBOUND", assistantId, telephonyConnectionId: line.id, ...more };
    const { createDeployment } = await api.gql(DEPLOY, { input });
    const ask = (engineCallId: string, headers: Record<string, string> = { "x-vapi-secret": SECRET }) => {
      const message = {
        ...REQUEST,
        call: { id: engineCallId },
        phoneNumber: { number: line.phoneNumber },
      };
      return api.as(headers).post(MESSAGES, { message }, 201);
    };
    const callsOf = async () => {
      const query =
        "query ($id: ID!) { calls(filter: { assistantId: $id }) { nodes { id status phoneNumber chat { deployment { id } } } } }";
      return (await api.gql(query, { id: assistantId })).calls.nodes;
    };
    return { assistantId, line, deploymentId: createDeployment.id as string, ask, callsOf };
  }

  test("is answered by the number's PHONE_INBOUND deployment, with the events of every call", async () => {
    const { deploymentId, ask, callsOf } = await deployed({ initialMessage: "Practice, good day." });
    const { assistant } = await ask("theirs-1");
    expect(assistant).toMatchObject({ firstMessage: "Practice, good day." });
    const [call] = await callsOf();
    expect(call).toEqual({
      id: call.id,
      status: "ringing",
      phoneNumber: "+41783000001",
      chat: { deployment: { id: deploymentId } },
    });
    for (const [status, more] of [
      ["in-progress", {}],
      ["ended", { endedReason: "customer-ended-call" }],
    ] as const)
      await running.api
        .as({ "x-vapi-secret": SECRET })
        .post(
          MESSAGES,
          { message: { type: "status-update", status, call: { id: "theirs-1" }, ...more } },
          201,
        );
    expect(await statusesOf(running.api, call.id)).toEqual(["ringing", "in-progress", "ended"]);
  });

  test("is answered by the next deployment if the assistant of the oldest was deleted", async () => {
    const { assistantId, line, ask } = await deployed({ initialMessage: "The old one." });
    const { api } = running;
    const input = {
      type: "PHONE_INBOUND",
      assistantId: await speaker(api, { initialMessage: "The new one." }),
      telephonyConnectionId: line.id,
    };
    await api.gql(DEPLOY, { input });
    expect(await ask("theirs-old")).toMatchObject({ assistant: { firstMessage: "The old one." } });
    await api.delete(`/rest/v1/assistants/${assistantId}`, 200);
    expect(await ask("theirs-new")).toMatchObject({ assistant: { firstMessage: "The new one." } });
  });

  test("is created once, however often and whenever the engine asks", async () => {
    const { ask, callsOf } = await deployed(QUIET);
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask("theirs-2")));
    expect(new Set(answers.map(({ assistant }) => assistant?.metadata.parleyCallId)).size).toBe(1);
    expect(await callsOf()).toHaveLength(1);
  });

  test("is not answered without the secret, or if the deployment is disabled", async () => {
    const { ask, callsOf } = await deployed(QUIET);
    for (const headers of [{}, { "x-vapi-secret": "wrong" }] as Record<string, string>[])
      expect(await ask("theirs-3", headers)).toEqual({});
    expect(await callsOf()).toEqual([]);
    const off = await deployed(QUIET, { enabled: false });
    expect(await off.ask("theirs-4")).toEqual({});
    expect(await off.callsOf()).toEqual([]);
  });
});

describe("a call from a web page, with an engine that holds it", () => {
  const OPEN = "/rest/v1/call/web";

  test("is created at the engine, and uses the same callbacks", async () => {
    const { api, vapi } = running;
    const assistantId = await speaker(api, { initialMessage: "Hello, {name}." });
    const { webCallUrl } = await api
      .as({ "X-Public-Key": running.publicKey })
      .post(OPEN, { assistantId, variables: { name: "Grace" } }, 200);
    const { id: engineCallId, assistant } = vapi.calls.at(-1)!;
    expect(webCallUrl).toBe(`https://calls.example/${engineCallId}`);
    expect(assistant.firstMessage).toBe("Hello, Grace.");
    const id = assistant.metadata.parleyCallId as string;
    expect(await callOf(api, id)).toMatchObject({ kind: "WEB", status: "queued", phoneNumber: null });
    const message = { type: "status-update", status: "in-progress", call: { id: engineCallId } };
    await api.as(assistant.server.headers).post(MESSAGES, { message }, 201);
    expect((await callOf(api, id)).status).toBe("in-progress");
    expect(vapi.problems).toEqual([]);
  });

  test("is created for a visitor, who can read its chat but not write into it", async () => {
    const { api, vapi, url, publicKey } = running;
    const assistantId = await speaker(api, { initialMessage: "Hello, {name}." });
    const session = await startSession(url, publicKey, { assistantId });
    expect(session.widget).toMatchObject({ voiceEnabled: true, engineVoice: true });
    const visitor = new VisitorClient(url, session.token);
    const { startWidgetCall: call } = await visitor.api.gql(
      'mutation { startWidgetCall(input: { variables: { name: "Grace" } }) { id webCallUrl } }',
    );
    expect(call.webCallUrl).toBe(`https://calls.example/${vapi.calls.at(-1)!.id}`);
    expect(vapi.calls.at(-1)!.assistant.firstMessage).toBe("Hello, Grace.");
    expect(await visitor.chats()).toMatchObject([{ id: call.id, channel: "VOICE", status: "queued" }]);
    const POST = "mutation ($input: WidgetMessageInput!) { postWidgetMessage(input: $input) { id } }";
    const error = await visitor.api.gqlError(POST, { input: { chatId: call.id, content: "Hello?" } });
    expect(error.extensions.code).toBe("CONFLICT");
  });

  test("that the engine refuses returns 503, and has ended", async () => {
    const { api, vapi } = running;
    vapi.will({ status: 500 });
    const assistantId = await speaker(api, QUIET);
    const answer = await api.as({ "X-Public-Key": running.publicKey }).request("POST", OPEN, { assistantId });
    vapi.will({});
    expect([answer.status, answer.body.error, answer.body.code]).toEqual([
      503,
      "Service Unavailable",
      "UNAVAILABLE",
    ]);
    const { calls } = await api.gql(
      "query ($id: ID!) { calls(filter: { assistantId: $id }) { nodes { status endedReason } } }",
      { id: assistantId },
    );
    expect(calls.nodes).toEqual([{ status: "ended", endedReason: "engine-unreachable" }]);
  });
});
