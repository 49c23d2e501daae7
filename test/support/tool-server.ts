import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { afterTest } from "./server";

export interface ToolServer {
  readonly url: string;
  /** Headers of the requests so far, with the method of the protocol; undefined for other requests. */
  readonly asked: { readonly method: string | undefined; readonly headers: IncomingMessage["headers"] }[];
  /** Number of requests for the list of tools. */
  lists(): number;
  /** Headers of the calls of tools. */
  calls(): IncomingMessage["headers"][];
  /** Replaces the tools. */
  offer(tools: readonly OfferedTool[]): void;
  /** Answers every request so from now on; undefined: as a server of tools does. */
  answer(reply: ((res: ServerResponse) => void) | undefined): void;
}

export type OfferedTool = Pick<Tool, "name" | "description"> & {
  readonly inputSchema?: Tool["inputSchema"];
  readonly outputSchema?: Tool["outputSchema"];
  readonly run?: (args: Record<string, unknown>) => CallToolResult | Promise<CallToolResult>;
};

/** A result of one text. */
export const saying = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** A server of tools by the official SDK. */
export async function toolServer(...tools: OfferedTool[]): Promise<ToolServer> {
  let offered: readonly OfferedTool[] = tools;
  let reply: ((res: ServerResponse) => void) | undefined;
  const asked: { method: string | undefined; headers: IncomingMessage["headers"] }[] = [];
  const http = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const body = text === "" ? undefined : (JSON.parse(text) as { method?: string });
      asked.push({ method: body?.method, headers: req.headers });
      if (reply) return reply(res);
      void serve(offered, req, res, body);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => http.once("listening", resolve));
  afterTest(() => (http.closeAllConnections(), http.close()));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    asked,
    lists: () => asked.filter(({ method }) => method === "tools/list").length,
    calls: () => asked.filter(({ method }) => method === "tools/call").map(({ headers }) => headers),
    offer: (changed) => void (offered = changed),
    answer: (changed) => void (reply = changed),
  };
}

async function serve(
  offered: readonly OfferedTool[],
  req: IncomingMessage,
  res: ServerResponse,
  body: unknown,
): Promise<void> {
  const server = new Server({ name: "tools", version: "1" }, { capabilities: { tools: {} } });
  const empty = { type: "object", properties: {} } as const;
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: offered.map(({ run: _, inputSchema = empty, ...tool }) => ({ ...tool, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const tool = offered.find(({ name }) => name === params.name);
    return (
      tool?.run?.(params.arguments ?? {}) ?? saying(`${params.name} ${JSON.stringify(params.arguments)}`)
    );
  });
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(req, res, body);
}
