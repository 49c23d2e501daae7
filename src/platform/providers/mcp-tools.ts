import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type * as ClientModule from "@modelcontextprotocol/sdk/client/index.js";
import type * as HttpModule from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { jsonSchemaValidator as JsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
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
import { ownVersion } from "../version";
import { load } from "./load";

/** Time to list, and to call, with all requests that the protocol needs for it. */
const TIMEOUT_MS = { list: 5_000, call: 20_000 };
/** Longest response of a server, and longest text of an answer. */
const MOST_BYTES = { list: 1_048_576, call: 65_536 };
/** Tools and pages of one list; characters of a description and of the schema of a tool, which every request to a model contains. */
const MOST = { tools: 256, pages: 10, description: 4_096, schema: 65_536 };
const FAILURE_LIFETIME_MS = 60_000;
const PROVIDER = "a tool server";

type Client = ClientModule.Client;
type Kind = keyof typeof TIMEOUT_MS;

interface Listing {
  readonly at: number;
  readonly tools: Promise<readonly ListedTool[]>;
  failed: boolean;
}

/** Reaches tool servers with the official SDK, which loads with the first of them. */
export class McpTools implements ToolClient {
  private readonly listings = new LRUCache<string, Listing>({ max: 1_000 });

  /** @param reach a `fetch` that refuses forbidden addresses and redirects */
  constructor(
    private readonly reach: typeof fetch,
    private readonly answers: BoundedAnswers,
  ) {}

  list(server: ToolServerAddress, maxAgeMs: number): Promise<readonly ListedTool[]> {
    const key = createHash("sha256")
      .update(JSON.stringify([server.url, server.headers]))
      .digest("base64");
    const known = this.listings.get(key);
    const age = known ? currentTime() - known.at : Infinity;
    if (known && age < (known.failed ? Math.min(maxAgeMs, FAILURE_LIFETIME_MS) : maxAgeMs))
      return known.tools;
    const tools = this.connected("list", server, {}, allTools);
    const listing: Listing = { at: currentTime(), tools, failed: false };
    tools.catch(() => (listing.failed = true));
    this.listings.set(key, listing);
    return tools;
  }

  async call(server: ToolServerAddress, { name, arguments: args, headers }: ToolCall): Promise<ToolAnswer> {
    try {
      return await this.connected("call", server, headers, async (client, options) => {
        const params = { name, arguments: args as Record<string, unknown> };
        return answerOf((await client.callTool(params, undefined, options)) as CallToolResult);
      });
    } catch (error) {
      return { failed: true, text: `The tool could not be called: ${(error as Error).message}` };
    }
  }

  /** Connects, works and disconnects, within the time limit. @throws ToolServerFailure */
  private async connected<T>(
    kind: Kind,
    { url, headers }: ToolServerAddress,
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
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      fetch: withoutListening(this.answers.fetch(this.reach, PROVIDER, bound)),
      requestInit: { headers: { ...headers, ...more, "user-agent": "Parley/1.0 (tools)" } },
      reconnectionOptions: { ...NO_RECONNECTION },
    });
    try {
      await client.connect(transport, options);
      return await work(client, options);
    } catch (error) {
      throw new ToolServerFailure(reasonOf(error, options.signal), { cause: error });
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

/** Refuses the stream of notifications, which a client that is about to leave does not need. */
const withoutListening =
  (reach: typeof fetch): typeof fetch =>
  (input, init) =>
    init?.method === "GET" ? Promise.resolve(new Response(null, { status: 405 })) : reach(input, init);

const aborted = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

async function allTools(client: Client, options: object): Promise<readonly ListedTool[]> {
  const found: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST.pages && found.length < MOST.tools; page++) {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, options);
    for (const { name, description = "", inputSchema } of tools)
      if (JSON.stringify(inputSchema).length <= MOST.schema)
        found.push({
          name,
          description: description.slice(0, MOST.description),
          parameters: { ...inputSchema },
        });
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return found.slice(0, MOST.tools);
}

/** The text of a result; what a model cannot read is named. */
function answerOf({ content = [], structuredContent, isError = false }: CallToolResult): ToolAnswer {
  const texts = content.map((part) => (part.type === "text" ? part.text : `(${part.type} left out)`));
  const text =
    texts.length === 0 && structuredContent ? JSON.stringify(structuredContent) : texts.join("\n\n");
  if (Buffer.byteLength(text) > MOST_BYTES.call)
    return { failed: true, text: "The tool's answer is too long." };
  return { failed: isError, text: text === "" ? "The tool was called." : text };
}

/** Why a server could not be used, as a sentence. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  const { message, code } = error as Error & { readonly code?: unknown };
  if (error instanceof BoundExceeded) return `The server's response exceeds ${MOST_BYTES.list} bytes.`;
  if (/redirects are not followed/.test(message)) return message;
  if (typeof code === "number" && code >= 400 && code < 600)
    return `The server answered with status ${code}.`;
  if (code === RPC_TIMEOUT) return failureOf(error, AbortSignal.abort());
  if (typeof code === "number" && code <= RPC_ERRORS) return `The server answered: ${firstLine(message)}`;
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
