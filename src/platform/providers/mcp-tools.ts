import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type * as ClientModule from "@modelcontextprotocol/sdk/client/index.js";
import type * as HttpModule from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { jsonSchemaValidator as JsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js";
import type * as TypesModule from "@modelcontextprotocol/sdk/types.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Logger } from "pino";
import { BoundExceeded, type BoundedAnswers } from "../outbound/bounds";
import { failureOf } from "../outbound/http";
import {
  ToolServerFailure,
  type ListedTool,
  type ToolAnswer,
  type ToolCall,
  type ToolClient,
  type ToolServerAddress,
} from "../ports/tool-client";
import { currentTime } from "../clock";
import type { JsonObject } from "../json/json-object";
import { ownVersion } from "../version";
import { load } from "./load";

/** Time to list, and to call, with all requests that the protocol needs for it. */
const TIMEOUT_MS = { list: 5_000, call: 20_000 };
/** Longest response of a server, and longest text of an answer. */
const MOST_BYTES = { list: 1_048_576, call: 65_536 };
/** Tools and pages of one list; characters of a description and of the schema of a tool, which every request to a model contains. */
const MOST = { tools: 256, pages: 10, description: 4_096, schema: 65_536 };
/** Lists that are remembered, and the length of all of them together, in characters. Customers choose the servers. */
const REMEMBERED = { max: 1_000, maxSize: 32 * 1_048_576 };
const FAILURE_LIFETIME_MS = 60_000;
const PROVIDER = "a tool server";

type Client = ClientModule.Client;
type Kind = keyof typeof TIMEOUT_MS;

interface Listing {
  at: number;
  readonly tools: Promise<readonly ListedTool[]>;
  failed: boolean;
}

/** Reaches tool servers with the official SDK, which loads with the first of them. */
export class McpTools implements ToolClient {
  private readonly listings = new LRUCache<string, Listing>(REMEMBERED);

  /** @param reach a `fetch` that refuses forbidden addresses and redirects */
  constructor(
    private readonly reach: typeof fetch,
    private readonly answers: BoundedAnswers,
    private readonly logger?: Pick<Logger, "warn">,
  ) {}

  list(server: ToolServerAddress, maxAgeMs: number): Promise<readonly ListedTool[]> {
    const key = hash("sha256", JSON.stringify([server.url, server.headers]), "base64");
    const known = this.listings.get(key);
    const age = known ? currentTime() - known.at : Infinity;
    if (known?.failed && maxAgeMs > 0) {
      // Nobody waits again for a server that is away: it is tried in the background.
      if (age >= FAILURE_LIFETIME_MS) this.tryAgain(key, server, known);
      return known.tools;
    }
    if (known && age < maxAgeMs) return known.tools;
    const tools = this.connected("list", server, {}, allTools);
    this.keep(key, tools);
    return tools;
  }

  private keep(key: string, tools: Listing["tools"]): void {
    const listing: Listing = { at: currentTime(), tools, failed: false };
    this.listings.set(key, listing, { size: 1 });
    tools.then(
      (listed) => {
        if (this.listings.peek(key) !== listing) return;
        this.listings.set(key, { ...listing }, { size: JSON.stringify(listed).length });
      },
      () => (listing.failed = true),
    );
  }

  private tryAgain(key: string, server: ToolServerAddress, known: Listing): void {
    known.at = currentTime();
    const tools = this.connected("list", server, {}, allTools);
    tools.then(
      () => this.keep(key, tools),
      () => undefined,
    );
  }

  async call(server: ToolServerAddress, { name, arguments: args, headers }: ToolCall): Promise<ToolAnswer> {
    try {
      return await this.connected("call", server, headers, async (client, options) => {
        const params = { name, arguments: args as Record<string, unknown> };
        const result = (await client.callTool(params, undefined, options)) as CallToolResult;
        const { failed, text } = answerOf(result);
        return { failed, text: withoutSecrets(text, server) };
      });
    } catch (error) {
      return { failed: true, text: `The tool could not be called: ${(error as Error).message}` };
    }
  }

  /** Connects, works and disconnects, within the time limit. @throws ToolServerFailure */
  private async connected<T>(
    kind: Kind,
    server: ToolServerAddress,
    more: Readonly<Record<string, string>>,
    work: (client: Client, options: { signal: AbortSignal; timeout: number }) => Promise<T>,
  ): Promise<T> {
    const { Client } = load<typeof ClientModule>("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = load<typeof HttpModule>(
      "@modelcontextprotocol/sdk/client/streamableHttp.js",
    );
    const timeout = TIMEOUT_MS[kind];
    const options = { signal: AbortSignal.timeout(timeout), timeout };
    const client = new Client({ name: "parley", version: ownVersion() }, { jsonSchemaValidator: UNCHECKED });
    const bound = { bytes: MOST_BYTES.list, milliseconds: timeout };
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: forCalls(this.answers.fetch(this.reach, PROVIDER, bound), more),
      requestInit: { headers: { ...server.headers, "user-agent": "Parley/1.0 (tools)" } },
      reconnectionOptions: { ...NO_RECONNECTION },
    });
    try {
      await client.connect(transport, options);
      return await work(client, options);
    } catch (error) {
      const reason = withoutSecrets(reasonOf(error, options.signal), server);
      this.logger?.warn({ host: new URL(server.url).host, reason }, "a tool server cannot be used");
      throw new ToolServerFailure(reason, { cause: error });
    } finally {
      if (!options.signal.aborted)
        await Promise.race([transport.terminateSession(), aborted(options.signal)]).catch(() => undefined);
      await client.close();
    }
  }
}

/** Schemas of a server are compiled by ArgumentChecker only: they could block this thread. */
const UNCHECKED: JsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};

const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
};

/**
 * Adds headers to the call of a tool alone, not to the requests around it, and refuses the stream of notifications, which
 * a client that is about to leave does not need.
 */
const forCalls =
  (reach: typeof fetch, more: Readonly<Record<string, string>>): typeof fetch =>
  (input, init) => {
    if (init?.method === "GET") return Promise.resolve(new Response(null, { status: 405 }));
    const isCall = typeof init?.body === "string" && init.body.includes('"method":"tools/call"');
    if (!isCall) return reach(input, init);
    return reach(input, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...more } });
  };

const aborted = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

async function allTools(client: Client, options: object): Promise<readonly ListedTool[]> {
  const { ResultSchema } = load<typeof TypesModule>("@modelcontextprotocol/sdk/types.js");
  const found: ListedTool[] = [];
  let cursor: unknown;
  for (let page = 0; page < MOST.pages && found.length < MOST.tools; page++) {
    const params = cursor === undefined ? {} : { cursor: cursor as string };
    // Without the SDK's schema of tools, by which one malformed tool would hide all others.
    const listed = await client.request({ method: "tools/list", params }, ResultSchema, options);
    if (!Array.isArray(listed.tools)) throw new ToolServerFailure("The server lists no tools.");
    found.push(...listed.tools.flatMap(toolOf));
    cursor = listed.nextCursor;
    if (typeof cursor !== "string") break;
  }
  return found.slice(0, MOST.tools);
}

/** A tool of a list; none if it is malformed or too long. */
function toolOf(tool: unknown): ListedTool[] {
  const { name, description, inputSchema } = (tool ?? {}) as Record<string, unknown>;
  if (typeof name !== "string" || typeof inputSchema !== "object" || inputSchema === null) return [];
  // The dialect is left out: the usual keywords mean the same in each.
  const { $schema: _, ...parameters } = inputSchema as JsonObject;
  if (parameters.type !== "object" || JSON.stringify(parameters).length > MOST.schema) return [];
  const text = typeof description === "string" ? description.slice(0, MOST.description) : "";
  return [{ name, description: text, parameters }];
}

/** The text of a result; what a model cannot read is named. */
function answerOf({ content = [], structuredContent, isError = false }: CallToolResult): ToolAnswer {
  const texts = content.map(textOf);
  const text =
    texts.length === 0 && structuredContent ? JSON.stringify(structuredContent) : texts.join("\n\n");
  if (Buffer.byteLength(text) > MOST_BYTES.call)
    return { failed: true, text: "The tool's answer is too long." };
  return { failed: isError, text: text === "" ? "The tool was called." : text };
}

/** The text of one part of a result, for a model. */
function textOf(part: CallToolResult["content"][number]): string {
  if (part.type === "text") return part.text;
  if (part.type === "resource" && "text" in part.resource) return part.resource.text;
  return part.type === "resource_link" ? part.uri : `(${part.type} left out)`;
}

/** Headers of a server that it repeats must reach neither a model nor people. */
function withoutSecrets(text: string, { headers }: ToolServerAddress): string {
  const secrets = Object.values(headers).flatMap((value) => [value, ...value.split(" ")]);
  const long = secrets.filter(({ length }) => length >= MIN_SECRET).sort((a, b) => b.length - a.length);
  return long.reduce((cleaned, secret) => cleaned.replaceAll(secret, "***"), text);
}

/** Shorter words, such as Basic, are no secrets. */
const MIN_SECRET = 8;

/** Why a server could not be used, as a sentence. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  const { message, code } = error as Error & { readonly code?: unknown };
  if (error instanceof ToolServerFailure) return message;
  if (error instanceof BoundExceeded) return `The server's response exceeds ${MOST_BYTES.list} bytes.`;
  if (/redirects are not followed/.test(message)) return message;
  if (typeof code === "number" && code >= 400 && code < 600)
    return `The server answered with status ${code}.`;
  if (code === RPC_TIMEOUT) return failureOf(error, AbortSignal.abort());
  if (typeof code === "number" && code <= RPC_ERRORS)
    return `The server answered: ${firstLine(message.replace(/^(MCP error -?\d+: )+/, ""))}`;
  const failure = failureOf(error, signal);
  return typeof code === "number" || failure === "The connection failed."
    ? `The server does not speak the Model Context Protocol (${firstLine(message)}).`
    : failure;
}

/** Codes of the protocol's errors begin here; the SDK has one of them for its own time limit. */
const RPC_ERRORS = -32_000;
const RPC_TIMEOUT = -32_001;

/** Bounded, because a server chooses the text. */
const firstLine = (text: string): string => text.split("\n")[0]!.slice(0, 200);
