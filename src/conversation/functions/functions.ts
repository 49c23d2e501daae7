import type {
  ChannelConfiguration,
  VoiceConfiguration,
} from "../../assistants/configurations/configurations";
import { readFunction, type DeclaredFunction } from "../../assistants/configurations/functions";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import type { Outcome } from "../../platform/outbound/http";
import type { ModelTool } from "../../platform/ports/text-model";
import { fill, fillSchema } from "./variables";

/** How a function answered, and what was sent to it. */
export interface FunctionAnswer {
  /** What the model is told: the reply as JSON, or why there is none. */
  readonly text: string;
  readonly failed: boolean;
  readonly request?: { readonly url: string; readonly body: JsonObject };
  readonly status?: number;
}

const TIMEOUT = 20_000;
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

type Values = readonly (JsonObject | null)[];

/**
 * The functions of a configuration that a model may be offered, with variables filled in: those whose parameters can be
 * checked. A name that is used twice counts once.
 */
export async function declaredFunctions(
  { organizationId, ports }: Scope,
  { functions }: Pick<ChannelConfiguration, "functions">,
  values: Values = [],
): Promise<DeclaredFunction[]> {
  const found = new Map<string, DeclaredFunction>();
  for (const item of functions) {
    const declared = readFunction(item);
    if (typeof declared !== "string" && !found.has(declared.name)) found.set(declared.name, declared);
  }
  const each = [...found.values()].map(async (declared) => {
    const problem = await ports.checker.problemOf(organizationId, declared.parameters);
    return problem === undefined ? [filled(declared, values)] : [];
  });
  return (await Promise.all(each)).flat();
}

const filled = (declared: DeclaredFunction, values: Values): DeclaredFunction => ({
  ...declared,
  description: fill(declared.description, values),
  parameters: fillSchema(declared.parameters, values),
});

/** What the model is offered: the declared functions, and the built-in ones that are on, which come before a declared one of the same name. */
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

/** Those of our own that the configuration of a channel has on. */
export function builtInFunctions(configuration: ChannelConfiguration): ModelTool[] {
  const { endCallFunction, dialKeypadFunction } = configuration as Partial<VoiceConfiguration>;
  return [...(endCallFunction ? [END_CALL] : []), ...(dialKeypadFunction ? [DIAL_KEYPAD] : [])];
}

/** Calls a declared function at its server. Wrong arguments are told to the model instead of sent. */
export async function callFunction(
  { organizationId, ports }: Scope,
  declared: DeclaredFunction,
  callId: string,
  args: unknown,
): Promise<FunctionAnswer> {
  const misfit = await ports.checker.misfit(organizationId, declared.parameters, args);
  if (misfit !== undefined) return { failed: true, text: misfit };
  const { name, serverUrl: url, secretKey } = declared;
  if (url === undefined)
    return { failed: true, text: `Nobody answers ${name}: it has no server. Nothing was done or confirmed.` };
  const body = { id: callId, function: { name, arguments: args } };
  const headers = {
    "content-type": "application/json",
    "user-agent": "Parley/1.0 (function)",
    "idempotency-key": encodeURIComponent(callId.toWellFormed()), // a model may have made it up
    ...(secretKey !== undefined && { "x-ck": secretKey }),
  };
  const outcome = await ports.outbound.post({
    url,
    body: JSON.stringify(body),
    headers,
    timeoutMs: TIMEOUT,
    provider: "the server of a function",
    readBytes: READ_BYTES,
  });
  return { ...replyOf(outcome), request: { url, body } };
}

function replyOf(outcome: Outcome): Pick<FunctionAnswer, "text" | "failed" | "status"> {
  if (outcome.kind === "failed")
    return { failed: true, text: `The function could not be called: ${outcome.error}` };
  const { status, body, complete } = outcome;
  if (status < 200 || status >= 300)
    return { failed: true, status, text: `The function answered with status ${status}.` };
  if (!complete) return { failed: true, status, text: "The function's answer is too long, or it broke off." };
  try {
    const reply = JSON.parse(body) as unknown;
    return { failed: false, status, text: typeof reply === "string" ? reply : JSON.stringify(reply) };
  } catch {
    return { failed: true, status, text: "The function's answer is not JSON." };
  }
}
