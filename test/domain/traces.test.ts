import { Writable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import pino from "pino";
import { openTracer } from "../../src/platform/providers/open-telemetry/open-tracer";
import { useApp } from "../support/app";
import { FAST } from "../support/calls";
import { collector, type ReceivedSpan } from "../support/collector";
import { configOf } from "../support/config";
import { UNKNOWN_ID } from "../support/factories";
import { Receiver } from "../support/receiver";
import { Subscriber } from "../support/subscriber";
import { talk } from "../support/talk";
import { until } from "../support/until";

/** The trace of the client, as in the specification of `traceparent`. */
const CLIENT = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const SAID = "My door code is 4711.";
const KEY = "secret of the collector";

const env: Record<string, string> = { ...FAST, OUTBOUND_ALLOW: "127.0.0.0/8" };
let received: Awaited<ReturnType<typeof collector>>;
beforeAll(async () => {
  received = await collector();
  env.OTEL_EXPORTER_OTLP_ENDPOINT = received.url;
  env.OTEL_EXPORTER_OTLP_HEADERS = `authorization=${encodeURIComponent(KEY)}`;
});
const running = useApp(env);
afterAll(() => received.stop());

const functionServer = new Receiver((res) => void res.end('"done"'));
const webhooks = new Receiver();
let spans: readonly ReceivedSpan[];
/** The header `traceparent` of each request to the model. */
let traceparents: readonly unknown[];
const named = (name: string) => spans.filter((span) => span.name === name);
const parentOf = ({ traceId, parentSpanId }: ReceivedSpan) =>
  spans.find((span) => span.traceId === traceId && span.spanId === parentSpanId);

beforeAll(async () => {
  await Promise.all([functionServer.start(), webhooks.start()]);
  await running.api.post("/rest/v1/settings", { url: webhooks.url, secret: "secret" }, 201);
  const lookUp = { name: "look_up", parameters: { type: "object" }, serverUrl: functionServer.url };
  const replies = [{ call: "look_up", arguments: "{}" }, { text: ["It is open."] }];
  const configuration = { model: "GPT_4_O", functions: [lookUp] };
  const { model, chatId, answered } = await talk(running, replies, { configuration });
  ({ traceparents } = model);
  const traceparent = `00-${CLIENT.traceId}-${CLIENT.spanId}-01`;
  const body = { aiChatId: chatId, role: "USER", channel: "TEXT", content: SAID, metadata: {} };
  await running.api.post("/rest/v1/ai-chats/messages", body, 201, { traceparent });
  await until(() => model.asked.length === 2);
  await answered();
  await webhooks.until(3);
  await Promise.all([
    subscribe(chatId),
    running.database.query("select graphile_worker.add_job('facts.sum')"),
  ]);
  ({ spans } = received);
  const lists = ["model request", "job chat.turn", "deliver function-call", "job facts.sum", "subscription"];
  await until(() => lists.every((name) => named(name).length > 0) && named("job chat.turn").some(isClients));
  await model.stop();
});
afterAll(() => Promise.all([functionServer.stop(), webhooks.stop()]));

/** The trace of the client's subscription, which follows a chat, and of one that is refused. */
const SUBSCRIBED = { traceId: "11111111111111111111111111111111", spanId: "2222222222222222" };

async function subscribe(chatId: string): Promise<void> {
  const subscriber = new Subscriber(running.url, { "X-API-Key": running.secretKey });
  const query = "subscription Follow($chatId: ID!) { chatEvents(chatId: $chatId, after: $chatId) { id } }";
  const extensions = { traceparent: `00-${SUBSCRIBED.traceId}-${SUBSCRIBED.spanId}-01` };
  await new Promise<unknown>((next) => {
    void subscriber.send({ query, variables: { chatId }, extensions }, next);
  });
  await subscriber.run("subscription { nothing }", {}, () => undefined);
  await subscriber.close();
}

const isClients = ({ traceId }: ReceivedSpan) => traceId === CLIENT.traceId;

test("a request continues the client's trace, and contains its operation, which contains its statements", () => {
  const request = spans.find(({ parentSpanId }) => parentSpanId === CLIENT.spanId)!;
  expect(request).toMatchObject({
    traceId: CLIENT.traceId,
    attributes: { "http.response.status_code": 201 },
  });
  const [operation] = spans.filter(
    ({ traceId, name }) => traceId === CLIENT.traceId && name.startsWith("mutation "),
  );
  expect(parentOf(operation!)).toBe(request);
  const statements = spans.filter(
    (span) => parentOf(span) === operation && "db.query.summary" in span.attributes,
  );
  expect(statements.length).toBeGreaterThan(0);
  expect(statements.map(({ name }) => name).join()).toMatch(/INSERT .*messages/);
});

test("a request names its route without ids, and its operation, also if that is none of GraphQL", async () => {
  const { api } = running;
  await api.request("GET", `/rest/v1/assistants/${UNKNOWN_ID}`);
  await api.request("POST", "/rest/v1/webhooks/vapi/server-messages", { message: { type: "hang" } });
  await api.request("POST", "/mcp?from=agent", {});
  await api.request("POST", "/nowhere");
  const routeOf = (name: string) => named(name).map(({ attributes }) => attributes["http.route"] ?? "none");
  await until(() => named("POST other").length > 0);
  expect(routeOf("GET Assistant")).toEqual(["/rest/v1/assistants/:id"]);
  expect(routeOf("POST engineServerMessages")).toEqual(["/rest/v1/webhooks/vapi/server-messages"]);
  expect(routeOf("POST mcp")).toEqual(["/mcp"]);
  expect(routeOf("POST other")).toEqual(["none"]);
});

test("health checks and scrapes have no traces", async () => {
  for (const path of ["/health/live", "/health/ready?verbose", "/metrics"])
    await running.api.request("GET", path);
  await running.api.request("GET", "/nowhere");
  await until(() => named("GET other").length > 0);
  expect(
    spans.filter(({ name }) => name.startsWith("GET ") && !/^GET (other|Assistant)$/.test(name)),
  ).toEqual([]);
  expect(named("GET other")).toHaveLength(1);
});

test("a request that fails gets its own error, and the span of its operation has the code", async () => {
  const { api } = running;
  await api.get(`/rest/v1/assistants/${UNKNOWN_ID}`, 400);
  const query = "query Missing($id: ID!) { chat(id: $id) { id } }";
  const { body } = await api.request("POST", "/graphql", { query, variables: { id: UNKNOWN_ID } });
  expect(body.errors).toMatchObject([{ extensions: { code: "CHAT_NOT_FOUND" } }]);
  const failed = () => spans.filter(({ attributes }) => attributes["graphql.operation.name"] === "Missing");
  await until(() => failed().length > 0);
  expect(failed()).toMatchObject([{ failed: true, attributes: { "error.type": "CHAT_NOT_FOUND" } }]);
});

test("a turn contains its requests to the model and its function call, and belongs to the request", () => {
  const [turn] = named("job chat.turn").filter(isClients);
  expect(parentOf(turn!)).toBeDefined();
  const ofTurn = spans.filter((span) => parentOf(span) === turn).map(({ name }) => name);
  expect(ofTurn.filter((name) => name === "model request")).toHaveLength(2);
  expect(ofTurn).toContain("function look_up");
});

test("the model can continue the trace in each of its requests", () => {
  const requests = named("model request").filter(isClients);
  const expected = requests.map(({ spanId }) => `00-${CLIENT.traceId}-${spanId}-01`);
  expect([...traceparents].sort()).toEqual(expected.sort());
});

test("the server of a function can continue the trace", () => {
  const [call] = named("function look_up");
  const { headers } = functionServer.received[0]!;
  expect(headers.traceparent).toBe(`00-${CLIENT.traceId}-${call!.spanId}-01`);
});

test("deliveries belong to the trace of their event, which has its id and is linked with the cause", () => {
  for (const { headers } of webhooks.received.slice(0, 3)) {
    const eventId = String(headers["webhook-id"]);
    const traceId = eventId.replaceAll("-", "");
    expect(headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  }
  const [delivery] = named("deliver function-call");
  const event = parentOf(delivery!)!;
  expect(event).toMatchObject({ name: "event function-call", parentSpanId: "" });
  const [cause] = event.links;
  const recorder = spans.find(({ spanId }) => spanId === cause!.spanId);
  expect(recorder?.traceId).toBe(CLIENT.traceId);
  expect(recorder?.links.map(({ traceId }) => traceId)).toContain(event.traceId);
});

test("the work of delivering is in no trace of a client", () => {
  const ofDispatcher = /^(UPDATE deliveries|SELECT webhook_destinations)/;
  expect(spans.filter(isClients).filter(({ name }) => ofDispatcher.test(name))).toEqual([]);
});

test("the start of a subscription continues the client's trace, and what it reads later has traces of its own", () => {
  const [subscription] = named("subscription chatEvents");
  expect(subscription).toMatchObject({
    ...{ traceId: SUBSCRIBED.traceId, parentSpanId: SUBSCRIBED.spanId, failed: false },
    attributes: { "graphql.operation.name": "Follow", "parley.request.id": expect.any(String) as unknown },
  });
  const statementsOf = (parent: ReceivedSpan) =>
    spans.filter((span) => parentOf(span) === parent && "db.query.summary" in span.attributes);
  expect(statementsOf(subscription!).length).toBeGreaterThan(0);
  const [read] = named("read chat events");
  expect(read!.parentSpanId).toBe("");
  expect(statementsOf(read!).length).toBeGreaterThan(0);
});

test("a subscription over Server-Sent Events has a span of its start, in the trace of its client", async () => {
  const traceId = "33333333333333333333333333333333";
  const traceparent = `00-${traceId}-${SUBSCRIBED.spanId}-01`;
  const gone = new AbortController();
  const { body } = await fetch(`${running.url}/graphql`, {
    method: "POST",
    headers: {
      ...{ "X-API-Key": running.secretKey, "Content-Type": "application/json" },
      ...{ Accept: "text/event-stream", traceparent },
    },
    body: JSON.stringify({ query: "subscription Changes { assistantChanges { id } }" }),
    signal: gone.signal,
  });
  await body!.getReader().read();
  const opening = () => named("subscription assistantChanges").find((span) => span.traceId === traceId);
  await until(() => opening() !== undefined);
  gone.abort();
  expect(opening()!.attributes["graphql.operation.name"]).toBe("Changes");
  await until(() => parentOf(opening()!)?.name === "POST graphql");
});

test("a refused subscription has a span with the code of its error", () => {
  const attributes = { "error.type": "GRAPHQL_VALIDATION_FAILED" };
  expect(named("subscription")).toMatchObject([{ failed: true, attributes }]);
});

test("a periodic task begins a trace, which contains its statements", () => {
  const [task] = named("job facts.sum");
  expect(task).toMatchObject({ parentSpanId: "", attributes: { "parley.task": "facts.sum" } });
  expect(spans.some((span) => parentOf(span) === task)).toBe(true);
});

test("spans contain neither words of people nor keys, and the collector's key is sent to it alone", () => {
  const all = received.texts.join();
  for (const secret of [SAID, "It is open", running.secretKey, "sk-test-1234", KEY])
    expect(all).not.toContain(secret);
  expect(new Set(received.headers)).toEqual(new Set([KEY]));
});

test("a collector that cannot be reached costs one warning a minute, and delays no work", async () => {
  const lines: string[] = [];
  const log = new Writable({ write: (chunk: Buffer, _, done) => (lines.push(String(chunk)), done()) });
  const gone = await collector();
  await gone.stop();
  const settings = configOf({ OTEL_EXPORTER_OTLP_ENDPOINT: `${gone.url}/wrong` });
  const tracer = openTracer(settings, pino({ level: "warn" }, log))!;
  for (let spans = 0; spans < 1_500; spans++)
    expect(await tracer.run("work", {}, () => Promise.resolve(spans))).toBe(spans);
  await tracer.close();
  expect(lines.filter((line) => line.includes("traces were not sent"))).toHaveLength(lines.length);
  expect(lines.length).toBeLessThanOrEqual(1);
});

test("without a collector there is no tracer", () => {
  expect(openTracer(configOf(), pino({ level: "silent" }))).toBeUndefined();
});
