import type { RequestHandler } from "express";
import type { Engine } from "../../rest-compat/run";
import { makeContext } from "../../schema/core/context";
import { requestId } from "../http/answers/answer-headers";
import { errorFormatter } from "../http/errors/error-formatter";
import { mcpHandler } from "../mcp/handler";
import { ToolRunner } from "../mcp/run-tool";
import { toolsOf } from "../mcp/tools";
import { ownVersion } from "../platform/version";
import type { Service } from "./open-service";
import type { Serving } from "./serve-graphql";

/** The Model Context Protocol: operations as tools, run by the engine of the other interfaces. */
export const mcpOf = (
  { database, logger }: Service,
  engine: Engine,
  { callers, limited, sendError }: Serving,
): RequestHandler =>
  mcpHandler({
    schema: engine.schema,
    version: ownVersion(),
    tools: () => toolsOf(engine.schema),
    runner: new ToolRunner(engine, errorFormatter(logger)),
    authenticate: async (req, res) => {
      const caller = await callers.authenticate(req, res);
      const source = { requestId: requestId(res), address: callers.addressOf(req) };
      return { caller, newContext: () => makeContext(database, caller, source) };
    },
    limited,
    sendError,
  });
