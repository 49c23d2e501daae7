import { Assistants } from "../../assistants/assistants/assistants";
import type { Channel } from "../../platform/catalog/load-catalog";
import { Configurations, KIND_OF } from "../../assistants/configurations/configurations";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import { callFunction, declaredFunctions, type FunctionAnswer } from "./functions";
import { callServerTool, distinctTools, MAX_AGE_MS, serverTools } from "./server-tools";

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
  const functions = await declaredFunctions(scope, configuration, [assistant.variables]);
  const declared = functions.find((one) => one.name === name);
  const listed = declared ? [] : await serverTools(scope, assistant, MAX_AGE_MS.atStart);
  const tool = distinctTools(
    listed,
    functions.map((one) => one.name),
  ).find((one) => one.name === name);
  if (!declared && !tool) missing("Function", name);
  const startedAt = performance.now();
  const { text, failed, request, status }: FunctionAnswer = declared
    ? await callFunction(scope, declared, newId(), args)
    : await callServerTool(scope, tool!, { id: newId(), arguments: args });
  return {
    request: request ?? null,
    status: status ?? null,
    response: text,
    failed,
    durationMs: Math.round(performance.now() - startedAt),
  };
}
