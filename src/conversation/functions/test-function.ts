import { Assistants } from "../../assistants/assistants/assistants";
import type { Channel } from "../../platform/catalog/load-catalog";
import { Configurations, KIND_OF } from "../../assistants/configurations/configurations";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import { callFunction, declaredFunctions, type FunctionAnswer } from "./functions";
import { valuesOf } from "./variables";
import { callServerTool, findTool, MAX_AGE_MS, type ServerTool } from "./server-tools";
import type { ToolAnswer } from "../../platform/ports/tool-client";

/** Calls a declared function, or a tool of an MCP server, as a model would, outside of any chat. @throws ASSISTANT_NOT_FOUND, FUNCTION_NOT_FOUND */
export async function testFunction(
  scope: Scope,
  {
    assistantId,
    channel,
    name,
    arguments: args,
  }: { assistantId: string; channel: Channel; name: string; arguments: unknown },
) {
  const assistant = await scope.of(Assistants).byId(assistantId);
  const configuration = await scope.of(Configurations).of(KIND_OF[channel], assistant);
  const functions = await declaredFunctions(scope, configuration, valuesOf(null, assistant));
  const declared = functions.find((one) => one.name === name);
  const tool = declared ? undefined : await findTool(scope, assistant, name, MAX_AGE_MS.atStart);
  if (!declared && !tool) missing("Function", name);
  const startedAt = performance.now();
  const { text, failed, request, status } = declared
    ? await callFunction(scope, declared, newId(), args)
    : await tried(scope, tool!, args);
  return {
    request: request ?? null,
    status: status ?? null,
    response: text,
    failed,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

/** Calls a tool, or tells why its server cannot be used. */
async function tried(scope: Scope, tool: ServerTool | ToolAnswer, args: unknown): Promise<FunctionAnswer> {
  if ("failed" in tool) return tool;
  const answer = await callServerTool(scope, tool, { id: newId(), arguments: args });
  return { ...answer, request: { url: tool.server.url, body: { name: tool.ownName, arguments: args } } };
}
