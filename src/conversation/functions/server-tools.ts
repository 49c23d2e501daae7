import { ToolServers, type Owner } from "../../assistants/tool-servers/tool-servers";
import { currentTime } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";
import type { ModelCall, ModelTool } from "../../platform/ports/text-model";
import { ToolServerFailure, type ToolAnswer, type ToolServerAddress } from "../../platform/ports/tool-client";
import { callKey } from "./functions";
import { tracing } from "../../platform/tracing/tracing";

/** A tool of an MCP server, under the name that the model gets. */
export interface ServerTool extends ModelTool {
  readonly server: ToolServerAddress & { readonly name: string };
  /** The server's own name of the tool. */
  readonly ownName: string;
}

/** Age up to which a list of tools is good: in a chat that has just begun, and later. */
export const MAX_AGE_MS = { atStart: 60_000, later: 3_600_000 } as const;

/** So the tools of a chat are those of its start, and no later answer waits for a list. */
export const maxAgeIn = ({ startedAt }: { readonly startedAt: Date }): number =>
  currentTime() - startedAt.getTime() < MAX_AGE_MS.atStart ? MAX_AGE_MS.atStart : MAX_AGE_MS.later;

/** Tools that an assistant gets from its servers. */
const MOST_TOOLS = 64;

interface Listed {
  readonly tools: readonly ServerTool[];
  /** Why servers could not be used, by their names. */
  readonly failures: ReadonlyMap<string, string>;
}

/** The tools that an assistant's servers allow. A server that cannot be used costs its own tools only. */
export async function listTools(scope: Scope, assistant: Owner, maxAgeMs: number): Promise<Listed> {
  const failures = new Map<string, string>();
  if (!assistant.toolServers) return { tools: [], failures };
  const servers = await scope.of(ToolServers).addresses(assistant);
  const each = servers.map(async (server) => {
    try {
      const listed = await scope.ports.tools.list(server, maxAgeMs);
      const allowed = listed.filter(({ name }) => server.allowedTools?.includes(name) ?? true);
      return allowed.map(({ name, ...tool }) => ({
        ...tool,
        ...{ name: callNameOf(server.name, name), ownName: name, server },
      }));
    } catch (error) {
      if (!(error instanceof ToolServerFailure)) throw error;
      failures.set(server.name, error.message);
      return [];
    }
  });
  const usable = (await Promise.all(each)).flat().map(async (tool) => {
    const problem = await scope.ports.checker.problemOf(scope.organizationId, tool.parameters);
    return problem === undefined ? [tool] : [];
  });
  const tools = (await Promise.all(usable)).flat().slice(0, MOST_TOOLS);
  return { tools: addTools([], tools).added, failures };
}

/** The tools alone. */
export const serverTools = async (scope: Scope, assistant: Owner, maxAgeMs: number) =>
  (await listTools(scope, assistant, maxAgeMs)).tools;

/** Begins to list the tools of a chat that starts, so that its first answer need not wait. */
export function listAhead(scope: Scope, assistant: Owner): void {
  void listTools(scope, assistant, MAX_AGE_MS.atStart).catch(() => undefined);
}

/**
 * The name of a tool for the model, which does not depend on other servers and functions: a call must never reach another
 * server because the one it was meant for is away.
 */
export const callNameOf = (server: string, tool: string): string =>
  `${server}_${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);

/** Names that an assistant's servers may have tools of, as the model gets them; none of a server that is allowed all. */
export const namedTools = ({ toolServers }: Pick<Owner, "toolServers">): string[] =>
  (toolServers ?? []).flatMap(({ name, allowedTools }) =>
    (allowedTools ?? []).map((tool) => callNameOf(name, tool)),
  );

/** Adds tools of servers to functions, except those whose name a function or an earlier tool has. */
export function addTools(
  functions: readonly ModelTool[],
  tools: readonly ServerTool[],
): { readonly all: ModelTool[]; readonly added: readonly ServerTool[] } {
  const names = new Set(functions.map(({ name }) => name));
  const added = tools.filter(({ name }) => !names.has(name) && names.add(name));
  return { all: [...functions, ...added.map(modelTool)], added };
}

/** A tool by its name for the model; else why its server cannot be used, or undefined if no server has it. */
export async function findTool(
  scope: Scope,
  assistant: Owner,
  name: string,
  maxAgeMs: number,
): Promise<ServerTool | ToolAnswer | undefined> {
  const { tools, failures } = await listTools(scope, assistant, maxAgeMs);
  const tool = tools.find((one) => one.name === name);
  if (tool) return tool;
  const [failed] = [...failures].filter(([server]) => name.startsWith(callNameOf(server, "")));
  return (
    failed && { failed: true, text: `The tools of the server ${failed[0]} cannot be listed: ${failed[1]}` }
  );
}

/** The part of a tool that is sent to the model. */
const modelTool = ({ name, description, parameters }: ServerTool): ModelTool => ({
  name,
  description,
  parameters,
});

/**
 * Calls a tool at its server. Invalid arguments are not sent; the answer tells the model what is wrong.
 * @param chatId undefined in a test
 */
export async function callServerTool(
  { organizationId, ports }: Scope,
  { name, ownName, server, parameters }: ServerTool,
  call: Pick<ModelCall, "id" | "arguments">,
  chatId?: string,
): Promise<ToolAnswer> {
  const violation = await ports.checker.violation(organizationId, parameters, call.arguments);
  if (violation !== undefined) return { failed: true, text: violation };
  const headers = {
    "idempotency-key": callKey(call.id),
    ...(chatId !== undefined && { "parley-chat-id": chatId }),
  };
  const work = () => ports.tools.call(server, { name: ownName, arguments: call.arguments, headers });
  const { tracer } = tracing;
  if (!tracer) return work();
  const attributes = { "parley.function.name": name, "server.address": new URL(server.url).hostname };
  return tracer.run(`tool ${name}`, { kind: "client", attributes }, async (span) => {
    const answer = await work();
    if (answer.failed) span.fail("tool");
    return answer;
  });
}
