import type { IncomingMessage, ServerResponse } from "node:http";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { RequestHandler } from "express";
import { authorize } from "../../schema/core/authorization";
import type { Context } from "../../schema/core/context";
import type { Caller } from "../account/auth/caller";
import { readJsonBody } from "../http/json-body";
import { toDomainError } from "../http/parser-errors";
import { refuseMethod } from "../http/refuse-method";
import type { SendError } from "../http/send-error";
import { invalid } from "../platform/errors";
import { mcpServer, type McpOptions } from "./server";

export interface McpHandlerOptions extends McpOptions {
  /** @throws UNAUTHENTICATED, RATE_LIMITED */
  readonly authenticate: (
    req: IncomingMessage,
    res: ServerResponse,
  ) => Promise<{ readonly caller: Caller | undefined; readonly newContext: () => Context }>;
  readonly limited: (answer: () => Promise<void>) => Promise<void>;
  readonly sendError: SendError;
}

/**
 * Serves the Model Context Protocol by POST, without sessions: each request has its credential, so any server of an
 * installation can answer it.
 */
export const mcpHandler =
  (options: McpHandlerOptions): RequestHandler =>
  async (req, res) => {
    try {
      if (req.method !== "POST") return refuseMethod(req, res, ["post"]);
      const { caller, newContext } = await options.authenticate(req, res);
      authorize("data", caller);
      const body = await readJsonBody(req, res);
      if (Array.isArray(body))
        throw invalid([{ path: "body", message: "must be one JSON-RPC message; batches are not supported" }]);
      await options.limited(async () => {
        const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
        const server = mcpServer(options, caller!, newContext); // authorize refuses requests without a caller
        await server.connect(transport);
        await transport.handleRequest(req, res, body);
        await server.close();
      });
    } catch (error) {
      options.sendError(res, toDomainError(error));
    }
  };
