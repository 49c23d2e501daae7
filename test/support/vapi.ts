import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

/*
 * The part of Vapi's published OpenAPI description (https://api.vapi.ai/api-json) that our requests use: properties of
 * objects, required properties, and bounds. Vapi refuses unknown properties.
 */

/** Properties that an object may have besides the checked ones. */
const others = (names: string) =>
  Object.fromEntries(names.split(" ").map((name) => [name, z.unknown().optional()]));
const url = z.url();

const Server = z.strictObject({
  url,
  headers: z.record(z.string(), z.string()),
  timeoutSeconds: z.number().min(1).max(300),
  backoffPlan: z.strictObject({
    type: z.enum(["fixed", "exponential"]),
    maxRetries: z.number().min(0).max(10),
    baseDelaySeconds: z.number().min(0).max(10),
    ...others("excludedStatusCodes"),
  }),
  ...others("credentialId staticIpAddressesEnabled encryptedPaths"),
});

const Tool = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("endCall"), ...others("messages rejectionPlan") }),
  z.strictObject({ type: z.literal("dtmf"), ...others("messages sipInfoDtmfEnabled rejectionPlan") }),
  z.strictObject({
    type: z.literal("function"),
    function: z.strictObject({
      name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
      description: z.string().optional(),
      parameters: z.looseObject({ type: z.literal("object") }).optional(),
      ...others("strict"),
    }),
    ...others("messages async server variableExtractionPlan parameters rejectionPlan"),
  }),
]);

const Model = z.strictObject({
  provider: z.literal("custom-llm"),
  url,
  model: z.string().min(1),
  headers: z.record(z.string(), z.string()),
  messages: z.array(
    z.strictObject({
      role: z.enum(["assistant", "function", "user", "system", "tool"]),
      content: z.string(),
    }),
  ),
  tools: z.array(Tool).optional(),
  temperature: z.number().min(0).max(2),
  maxTokens: z.number().min(50).max(10_000),
  metadataSendMode: z.enum(["off", "variable", "destructured"]),
  timeoutSeconds: z.number().min(0).max(300),
  ...others(
    "toolIds toolRefs knowledgeBase wordLevelConfidenceEnabled emotionRecognitionEnabled numFastTurns",
  ),
});

const SERVER_MESSAGES = [
  "assistant.started",
  "assistant.speechStarted",
  "conversation-update",
  "end-of-call-report",
  "function-call",
  "hang",
  "language-changed",
  "language-change-detected",
  "model-output",
  "phone-call-control",
  "speech-update",
  "status-update",
  "transcript",
  'transcript[transcriptType="final"]',
  "tool-calls",
  "transfer-destination-request",
  "handoff-destination-request",
  "transfer-update",
  "user-interrupted",
  "voice-input",
] as const;

const Assistant = z.strictObject({
  name: z.string().max(40),
  firstMessage: z.string().optional(),
  firstMessageMode: z.enum([
    "assistant-speaks-first",
    "assistant-speaks-first-with-model-generated-message",
    "assistant-waits-for-user",
  ]),
  model: Model,
  voice: z.discriminatedUnion("provider", [
    z.strictObject({ provider: z.literal("11labs"), voiceId: z.string() }),
    z.strictObject({ provider: z.literal("playht"), voiceId: z.string() }),
    z.strictObject({ provider: z.literal("openai"), voiceId: z.string() }),
  ]),
  backgroundSound: z.union([z.enum(["off", "office"]), url]).optional(),
  endCallMessage: z.string().max(1_000).optional(),
  endCallPhrases: z.array(z.string().min(2).max(140)).optional(),
  maxDurationSeconds: z.number().min(10).max(43_200),
  voicemailDetection: z.strictObject({ provider: z.literal("vapi") }),
  monitorPlan: z.strictObject({ controlEnabled: z.boolean(), listenEnabled: z.boolean() }),
  server: Server,
  serverMessages: z.array(z.enum(SERVER_MESSAGES)),
  metadata: z.record(z.string(), z.unknown()),
  ...others(
    "transcriber firstMessageInterruptionsEnabled clientMessages modelOutputInMessagesEnabled transportConfigurations observabilityPlan credentials hooks voicemailMessage compliancePlan backgroundSpeechDenoisingPlan analysisPlan artifactPlan startSpeakingPlan stopSpeakingPlan credentialIds keypadInputPlan",
  ),
});

const CreateCall = z
  .strictObject({
    name: z.string().max(40),
    assistant: Assistant,
    customer: z.strictObject({
      number: z.string().regex(/^\+[1-9]\d{1,14}$/),
      name: z.string().max(40).optional(),
      externalId: z.string().max(40).optional(),
      ...others("numberE164CheckEnabled extension assistantOverrides sipUri email"),
    }),
    phoneNumberId: z.string().optional(),
    phoneNumber: z
      .strictObject({
        twilioPhoneNumber: z.string(),
        twilioAccountSid: z.string(),
        twilioAuthToken: z.string(),
        smsEnabled: z.boolean().optional(),
        ...others(
          "twilioApiKey twilioApiSecret name assistantId workflowId squadId server hooks fallbackDestination",
        ),
      })
      .optional(),
    ...others(
      "customers schedulePlan transport assistantId assistantOverrides squadId squad squadOverrides workflowId workflow workflowOverrides customerId",
    ),
  })
  .refine(
    (call) => (call.phoneNumberId === undefined) !== (call.phoneNumber === undefined),
    "one number to call from",
  );

const CreateWebCall = z.strictObject({
  assistant: Assistant,
  ...others(
    "roomDeleteOnUserLeaveEnabled assistantId assistantOverrides squadId squad squadOverrides workflowId workflow workflowOverrides",
  ),
});

const ListQuery = z.strictObject({
  limit: z.coerce.number().min(0).max(1_000).optional(),
  createdAtGe: z.iso.datetime().optional(),
  createdAtLe: z.iso.datetime().optional(),
  ...others(
    "id assistantId phoneNumberId createdAtGt createdAtLt updatedAtGt updatedAtLt updatedAtGe updatedAtLe",
  ),
});

export type VapiCreate = z.infer<typeof CreateCall>;

/** A call as the fake stores it. */
export interface FakeCall {
  readonly id: string;
  readonly createdAt: string;
  readonly name: string | undefined;
  readonly assistant: z.infer<typeof Assistant>;
  status: string;
  endedReason?: string;
}

/** How the fake answers a POST /call. */
export interface Behavior {
  /** Milliseconds until the answer. */
  readonly delay?: number;
  /** Status to use instead of 201. */
  readonly status?: number;
  /** Whether the call is created even if the status is an error. */
  readonly made?: boolean;
  /** Whether the error repeats the request. */
  readonly echo?: boolean;
  /** Whether the call is created before the answer instead of with it. */
  readonly early?: boolean;
}

/** A local server with the used part of Vapi's API, which refuses what Vapi refuses. */
export class FakeVapi {
  readonly calls: FakeCall[] = [];
  /** Ids of deleted calls. */
  readonly deleted: string[] = [];
  /** Bodies of POST /call, with their times of arrival. */
  readonly created: { readonly body: VapiCreate; readonly at: number }[] = [];
  /** Requests to the control address of a call. */
  readonly controlled: { readonly id: string; readonly body: unknown }[] = [];
  readonly problems: string[] = [];
  private behaviors: Behavior[] = [];
  private readonly server = createServer((req, res) => void this.serve(req, res));

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Sets the reactions to the next POST /call requests; the last one is repeated. */
  will(...behaviors: Behavior[]): void {
    this.behaviors = behaviors;
  }

  /** Number of requests for a call with our id. */
  asked(callId: string): number {
    return this.created.filter(({ body }) => body.name === callId).length;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url!, this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    const control = /^\/control\/(.+)$/.exec(pathname);
    if (control) {
      this.controlled.push({ id: control[1]!, body });
      this.end(control[1]!, "manually-canceled");
      return send(res, 200, {});
    }
    const key = pathname === "/call/web" ? "Bearer public" : "Bearer key";
    if (req.headers.authorization !== key) return send(res, 401, { message: "Invalid Key" });
    if (req.method === "POST") return this.create(pathname, body, res);
    if (req.method === "DELETE") return this.remove(pathname, res);
    if (pathname === "/call") return this.list(Object.fromEntries(searchParams), res);
    const found = this.calls.find(({ id }) => pathname === `/call/${id}`);
    return found ? send(res, 200, this.shown(found)) : send(res, 404, { message: "Not Found" });
  }

  private remove(path: string, res: ServerResponse): void {
    const index = this.calls.findIndex(({ id }) => path === `/call/${id}`);
    if (index < 0) return send(res, 404, { message: "Not Found" });
    const [call] = this.calls.splice(index, 1);
    this.deleted.push(call!.id);
    send(res, 200, { id: call!.id });
  }

  private async create(path: string, body: unknown, res: ServerResponse): Promise<void> {
    const web = path === "/call/web";
    const parsed = (web ? CreateWebCall : CreateCall).safeParse(body);
    if (!parsed.success) {
      this.problems.push(...parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
      return send(res, 400, { message: this.problems, error: "Bad Request", statusCode: 400 });
    }
    const {
      delay = 0,
      status = 201,
      made = status === 201,
      early = false,
      echo = false,
    } = (this.behaviors.length > 1 ? this.behaviors.shift() : this.behaviors[0]) ?? {};
    const { assistant } = parsed.data;
    const name = web ? undefined : (parsed.data as VapiCreate).name;
    if (!web) this.created.push({ body: parsed.data as VapiCreate, at: Date.now() });
    const call: FakeCall = {
      id: randomUUID(),
      createdAt: new Date().toISOString(),
      name,
      assistant,
      status: "queued",
    };
    if (early) this.calls.push(call);
    await sleep(delay, undefined, { ref: false });
    if (!this.server.listening) return;
    if (made && !early) this.calls.push(call);
    if (status !== 201) return send(res, status, { message: echo ? body : "no", statusCode: status });
    send(res, 201, { ...this.shown(call), ...(web && { webCallUrl: `https://calls.example/${call.id}` }) });
  }

  private list(query: Record<string, string>, res: ServerResponse): void {
    const parsed = ListQuery.safeParse(query);
    if (!parsed.success) {
      this.problems.push(...parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
      return send(res, 400, {});
    }
    const { limit = 100, createdAtGe = "", createdAtLe = "9" } = parsed.data;
    const found = this.calls.filter(({ createdAt }) => createdAt >= createdAtGe && createdAt <= createdAtLe);
    const newest = found.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, limit);
    send(
      res,
      200,
      newest.map((call) => this.shown(call)),
    );
  }

  end(id: string, endedReason: string): void {
    const call = this.calls.find((one) => one.id === id);
    if (call && call.status !== "ended") Object.assign(call, { status: "ended", endedReason });
  }

  private shown(call: FakeCall): object {
    return {
      ...call,
      orgId: "org",
      updatedAt: call.createdAt,
      monitor: { controlUrl: `${this.url}/control/${call.id}` },
    };
  }
}

function send(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
