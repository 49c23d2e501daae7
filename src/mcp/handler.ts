import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import { authorize } from "../../schema/core/authorization";
import type { Context } from "../../schema/core/context";
import type { Caller } from "../account/auth/caller";
import { readJsonBody } from "../http/json-body";
import { toDomainError } from "../http/errors/parser-errors";
import { noteErrors } from "../http/errors/reported-errors";
import { refuseMethod } from "../http/errors/refuse-method";
import type { SendError } from "../http/errors/send-error";
import { invalid } from "../platform/errors";
import { sdk } from "./sdk";
import { mcpServer, type McpOptions } from "./server";

export interface McpHandlerOptions extends Omit<McpOptions, "tools" | "failed"> {
  /** Called at the first request. */
  readonly tools: () => McpOptions["tools"];
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
export function mcpHandler(options: McpHandlerOptions): RequestHandler {
  let tools: McpOptions["tools"] | undefined;
  return async (req, res) => {
    try {
      if (req.method !== "POST") return refuseMethod(req, res, ["post"]);
      const { caller, newContext } = await options.authenticate(req, res);
      authorize("data", caller);
      const body = await readJsonBody(req, res);
      if (Array.isArray(body))
        throw invalid([{ path: "body", message: "must be one JSON-RPC message; batches are not supported" }]);
      await options.limited(async () => {
        const transport = new (sdk().StreamableHTTPServerTransport)({ enableJsonResponse: true });
        tools ??= options.tools();
        const failed = (codes: readonly string[]) => noteErrors(res, codes);
        const server = mcpServer({ ...options, tools, failed }, caller!, newContext); // authorize refuses requests without a caller
        await server.connect(transport);
        await transport.handleRequest(req, res, body);
        await server.close();
      });
    } catch (error) {
      options.sendError(res, toDomainError(error));
    }
  };
}
