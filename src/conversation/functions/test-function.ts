import { Assistants } from "../../assistants/assistants/assistants";
import type { Channel } from "../../platform/catalog/load-catalog";
import { Configurations, KIND_OF } from "../../assistants/configurations/configurations";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import { callFunction, declaredFunctions } from "./functions";

/** Calls a declared function as a model would, outside of any chat. @throws ASSISTANT_NOT_FOUND, FUNCTION_NOT_FOUND */
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
  const declared = functions.find((one) => one.name === name) ?? missing("Function", name);
  const startedAt = performance.now();
  const { text, failed, request, status } = await callFunction(scope, declared, newId(), args);
  return {
    request: request ?? null,
    status: status ?? null,
    response: text,
    failed,
    durationMs: Math.round(performance.now() - startedAt),
  };
}
