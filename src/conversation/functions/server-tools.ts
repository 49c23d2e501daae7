import { ToolServers, type Owner } from "../../assistants/tool-servers/tool-servers";
import { currentTime } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";
import type { ModelCall, ModelTool } from "../../platform/ports/text-model";
import type { ToolAnswer, ToolServerAddress } from "../../platform/ports/tool-client";
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

/**
 * The tools that an assistant's servers allow. A server that cannot be used costs its own tools only, and tools whose
 * parameters cannot be checked are left out.
 */
export async function serverTools(scope: Scope, assistant: Owner, maxAgeMs: number): Promise<ServerTool[]> {
  if (!assistant.toolServers) return [];
  const servers = await scope.of(ToolServers).addresses(assistant);
  const each = await Promise.all(
    servers.map(async (server) => {
      const listed = await scope.ports.tools.list(server, maxAgeMs).catch(() => []);
      const allowed = listed.filter(({ name }) => server.allowedTools?.includes(name) ?? true);
      return allowed.map(({ name, ...tool }) => ({ ...tool, name: modelName(name), ownName: name, server }));
    }),
  );
  const usable = each.flat().map(async (tool) => {
    const problem = await scope.ports.checker.problemOf(scope.organizationId, tool.parameters);
    return problem === undefined ? [tool] : [];
  });
  return (await Promise.all(usable)).flat().slice(0, MOST_TOOLS);
}

/** A name that every model accepts. */
const modelName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);

/** Names that an assistant's servers may have tools of, as the model gets them; none of a server that is allowed all. */
export const namedTools = ({ toolServers }: Pick<Owner, "toolServers">): string[] =>
  (toolServers ?? []).flatMap(({ allowedTools }) => (allowedTools ?? []).map(modelName));

/** Tools with names that differ from those taken: the server's name precedes one that is. What is still taken is left out. */
export function distinctTools(tools: readonly ServerTool[], taken: Iterable<string>): ServerTool[] {
  const names = new Set(taken);
  return tools.flatMap((tool) => {
    const name = names.has(tool.name) ? modelName(`${tool.server.name}_${tool.name}`) : tool.name;
    if (names.has(name)) return [];
    names.add(name);
    return [{ ...tool, name }];
  });
}

/** What the model gets of a tool. */
export const modelTool = ({ name, description, parameters }: ServerTool): ModelTool => ({
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
    "idempotency-key": encodeURIComponent(call.id.toWellFormed()), // a model may have invented it
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
