import type {
  ChannelConfiguration,
  VoiceConfiguration,
} from "../../assistants/configurations/configurations";
import { isCheckable, readFunctions, type DeclaredFunction } from "../../assistants/configurations/functions";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import type { Outcome } from "../../platform/outbound/http";
import { postTraced } from "../../platform/outbound/post-traced";
import type { ModelTool } from "../../platform/ports/text-model";
import { fill, fillSchema, NO_VALUES, type Values } from "./variables";

/** The answer of a function, and the request that was sent to it. */
export interface FunctionAnswer {
  /** Text for the model: the reply, or why there is none. */
  readonly text: string;
  readonly failed: boolean;
  readonly request?: { readonly url: string; readonly body: JsonObject };
  readonly status?: number;
}

const CALL_TIMEOUT_MS = 20_000;
const READ_BYTES = 65_536;
const END_CALL: ModelTool = {
  name: "end_call",
  description: "Ends the conversation. Call it when the person has said goodbye or wants nothing more.",
  parameters: { type: "object", properties: {} },
};
const DIAL_KEYPAD: ModelTool = {
  name: "dial_keypad",
  description: "Presses keys of the phone, for menus that ask for digits.",
  parameters: {
    type: "object",
    properties: { digits: { type: "string", description: "Digits, * and #." } },
    required: ["digits"],
  },
};
export const BUILT_IN = { endCall: END_CALL.name, dialKeypad: DIAL_KEYPAD.name } as const;

/**
 * The functions of a configuration that can be offered to a model, with variables filled in. Leaves out functions whose
 * parameters cannot be checked, and those that repeat a name.
 */
export async function declaredFunctions(
  scope: Scope,
  { functions }: Pick<ChannelConfiguration, "functions">,
  values: Values = NO_VALUES,
): Promise<DeclaredFunction[]> {
  const each = [...readFunctions(functions).values()].map(async (declared) =>
    (await isCheckable(scope, declared)) ? [fillFunction(declared, values)] : [],
  );
  return (await Promise.all(each)).flat();
}

const fillFunction = (declared: DeclaredFunction, values: Values): DeclaredFunction => ({
  ...declared,
  description: fill(declared.description, values),
  parameters: fillSchema(declared.parameters, values),
});

/** Tools for the model: the declared functions and the enabled built-in ones, which replace those of the same name. */
export async function toolsOf(
  scope: Scope,
  configuration: ChannelConfiguration,
  values: Values,
): Promise<ModelTool[]> {
  const builtIn = builtInFunctions(configuration);
  const own = (await declaredFunctions(scope, configuration, values))
    .filter(({ name }) => !builtIn.some((tool) => tool.name === name))
    .map(({ name, description, parameters }) => ({ name, description, parameters }));
  return [...own, ...builtIn];
}

/** The built-in functions that a configuration enables. */
export function builtInFunctions(configuration: ChannelConfiguration): ModelTool[] {
  const { endCallFunction, dialKeypadFunction } = configuration as Partial<VoiceConfiguration>;
  return [...(endCallFunction ? [END_CALL] : []), ...(dialKeypadFunction ? [DIAL_KEYPAD] : [])];
}

/** The Idempotency-Key of a call, whose id a model may have invented. */
export const callKey = (callId: string): string => encodeURIComponent(callId.toWellFormed());

/** Calls a declared function at its server. Invalid arguments are not sent; the answer tells the model what is wrong. */
export async function callFunction(
  { organizationId, ports }: Scope,
  declared: DeclaredFunction,
  callId: string,
  args: unknown,
): Promise<FunctionAnswer> {
  const violation = await ports.checker.violation(organizationId, declared.parameters, args);
  if (violation !== undefined) return { failed: true, text: violation };
  const { name, serverUrl: url, secretKey } = declared;
  if (url === undefined)
    return {
      failed: true,
      text: `${name} was not called, because it has no server. Nothing was done or confirmed.`,
    };
  const body = { id: callId, function: { name, arguments: args } };
  const headers = {
    "content-type": "application/json",
    "user-agent": "Parley/1.0 (function)",
    "idempotency-key": callKey(callId),
    ...(secretKey !== undefined && { "x-ck": secretKey }),
  };
  const outcome = await postTraced(
    ports.outbound,
    { name: `function ${name}`, attributes: { "parley.function.name": name } },
    {
      url,
      body: JSON.stringify(body),
      headers,
      timeoutMs: CALL_TIMEOUT_MS,
      provider: "the server of a function",
      readBytes: READ_BYTES,
    },
  );
  return { ...replyOf(outcome), request: { url, body } };
}

function replyOf(outcome: Outcome): Pick<FunctionAnswer, "text" | "failed" | "status"> {
  if (outcome.kind === "failed")
    return { failed: true, text: `The function could not be called: ${outcome.error}` };
  const { status, body, complete } = outcome;
  if (status < 200 || status >= 300)
    return { failed: true, status, text: `The function answered with status ${status}.` };
  if (!complete) return { failed: true, status, text: "The function's answer is too long or incomplete." };
  try {
    const reply = JSON.parse(body) as unknown;
    return { failed: false, status, text: typeof reply === "string" ? reply : JSON.stringify(reply) };
  } catch {
    return { failed: true, status, text: "The function's answer is not JSON." };
  }
}
