import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { startApp, type RunningApp } from "../support/app";
import { createDatabase, type TestDatabase } from "../support/database";
import { newAssistant, newChat } from "../support/factories";
import { Receiver } from "../support/receiver";

interface VendorRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** A provider's API: records requests and streams given answers, repeating the last one. */
class Vendor {
  readonly asked: VendorRequest[] = [];
  private replies: readonly string[] = [];
  private readonly server: Server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
      this.asked.push({ path: req.url!, headers: req.headers, body });
      const reply = this.replies[Math.min(this.asked.length, this.replies.length) - 1];
      res.writeHead(200, { "content-type": "text/event-stream" }).end(reply);
    });
  });

  async start(): Promise<this> {
    await once(this.server.listen(0, "127.0.0.1"), "listening");
    return this;
  }
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/api`;
  }
  answers(...replies: string[]): void {
    this.asked.splice(0);
    this.replies = replies;
  }
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const stream = (...events: object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
/** Chat completions, in the format of OpenAI and Groq. */
const completion = (delta: object, finish: string) =>
  stream(
    {
      id: "1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: null }],
    },
    {
      id: "1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: {}, finish_reason: finish }],
    },
  ) + "data: [DONE]\n\n";
const completions = [
  completion(
    {
      tool_calls: [
        { index: 0, id: "c1", type: "function", function: { name: "look", arguments: '{"day":"Monday"}' } },
      ],
    },
    "tool_calls",
  ),
  completion({ role: "assistant", content: "At ten." }, "stop"),
];
/** Anthropic's messages. */
const messages = (block: object, ...deltas: object[]) =>
  stream(
    {
      type: "message_start",
      message: {
        id: "m1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: {
        stop_reason: deltas.some((delta) => "partial_json" in delta) ? "tool_use" : "end_turn",
        stop_sequence: null,
      },
      usage: { output_tokens: 5 },
    },
    { type: "message_stop" },
  ).replace(/^data: \{"type":"(\w+)"/gm, "event: $1\n$&");
const claude = [
  messages(
    { type: "tool_use", id: "c1", name: "look", input: {} },
    { type: "input_json_delta", partial_json: '{"day":' },
    { type: "input_json_delta", partial_json: '"Monday"}' },
  ),
  messages(
    { type: "text", text: "" },
    { type: "text_delta", text: "At " },
    { type: "text_delta", text: "ten." },
  ),
];

let database: TestDatabase;
let server: Vendor;
let running: RunningApp & { stop(): Promise<void> };
let customers: Vendor;
let receiver: Receiver;

beforeAll(async () => {
  database = await createDatabase();
  server = await new Vendor().start();
  const settings = ["OPENAI", "GROQ", "ANTHROPIC"].flatMap((vendor) => [
    [`${vendor}_API_KEY`, `servers-${vendor}`],
    [`${vendor}_BASE_URL`, server.url],
  ]);
  running = await startApp(database, { WORKER: "on", ...Object.fromEntries(settings) });
  receiver = await new Receiver((res) => void res.end('"ten"')).start();
});
afterAll(async () => {
  await receiver?.stop();
  await running?.stop();
  await server?.stop();
  await database?.drop();
});
beforeEach(async () => void (customers = await new Vendor().start()));
afterEach(() => customers.stop());

const SET = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider keyHint baseUrl } }`;
const set = async (provider: string, input: object) =>
  (await running.api.gql(SET, { input: { provider, ...input } })).setModelCredential;
const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { content metadata } }`;

/** The answer of a model to a question about opening hours. */
async function ask(model: string, provider: string): Promise<string> {
  const { api } = running;
  const parameters = { type: "object", properties: { day: { type: "string" } } };
  const functions = [{ name: "look", description: "Looks it up", parameters, serverUrl: receiver.url }];
  const id = await newAssistant(api);
  const configuration = {
    model,
    provider,
    functions,
    initialMessage: "",
    prompt: "Be kind.",
    endCallFunction: false,
    dialKeypadFunction: false,
  };
  await api.patch(`/rest/v1/assistants/${id}/voice`, configuration, 200);
  const aiChatId = await newChat(api, id, { channel: "VOICE" });
  const input = { aiChatId, role: "USER", channel: "VOICE", content: "When?", metadata: {} };
  return (await api.gql(POST, { input })).postMessage.content as string;
}

describe.each([
  { vendor: "OPENAI", model: "GPT_4_O", name: "gpt-4o", path: "/api/chat/completions", replies: completions },
  {
    vendor: "GROQ",
    model: "LLAMA_3_70B",
    name: "openai/gpt-oss-120b",
    path: "/api/chat/completions",
    replies: completions,
  },
  {
    vendor: "ANTHROPIC",
    model: "CLAUDE_3_OPUS",
    name: "claude-opus-4-8",
    path: "/api/messages",
    replies: claude,
  },
])("$vendor", ({ vendor, model, name, path, replies }) => {
  const keyOf = ({ headers }: VendorRequest) =>
    headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");
  afterEach(() => set(vendor, {}));

  test("gets requests in its format, with key and address of the settings, and its function calls run", async () => {
    server.answers(...replies);
    receiver.received.splice(0);
    expect(await ask(model, vendor)).toBe("At ten.");
    expect(server.asked.map((asked) => [asked.path, keyOf(asked)])).toEqual(
      Array.from({ length: 2 }, () => [path, `servers-${vendor}`]),
    );
    expect(server.asked[0]!.body).toMatchObject({ model: name, stream: true });
    expect(JSON.stringify(server.asked[0]!.body.tools)).toContain("Looks it up");
    expect(receiver.received.map(({ body }) => body.function)).toEqual([
      { name: "look", arguments: { day: "Monday" } },
    ]);
    expect(JSON.stringify(server.asked[1]!.body.messages)).toContain("The function was called.");
  });

  test("gets requests with the organization's own key and address, which take precedence; the key is shown nowhere", async () => {
    server.answers(...replies);
    customers.answers(...replies);
    const own = { apiKey: "sk-customers-1234", baseUrl: customers.url };
    expect(await set(vendor, own)).toEqual({ provider: vendor, keyHint: "…1234", baseUrl: customers.url });
    expect(await ask(model, vendor)).toBe("At ten.");
    expect(customers.asked.map(keyOf)).toEqual(["sk-customers-1234", "sk-customers-1234"]);
    expect(server.asked).toEqual([]);
    const rows = await database.query("select model_credentials::text as row from model_credentials");
    expect(JSON.stringify(rows)).toContain(customers.url);
    expect(JSON.stringify(rows)).not.toContain("sk-customers");
    expect(
      JSON.stringify(await running.api.gql("{ modelCredentials { provider keyHint baseUrl } }")),
    ).not.toContain("sk-customers");
  });

  test("at a customer's address never gets the settings' key", async () => {
    customers.answers(...replies);
    await set(vendor, { baseUrl: customers.url });
    expect(await ask(model, vendor)).toBe("At ten.");
    for (const asked of customers.asked) expect(JSON.stringify(asked)).not.toContain("servers-");
  });
});
