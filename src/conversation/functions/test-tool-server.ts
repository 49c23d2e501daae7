import { Assistants } from "../../assistants/assistants/assistants";
import { ToolServers, type ToolServer } from "../../assistants/tool-servers/tool-servers";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import { ToolServerFailure, type ListedTool } from "../../platform/ports/tool-client";
import { callNameOf } from "./server-tools";

/** The tools of a server now, or why it cannot be used. */
export interface ToolServerTest {
  readonly connected: boolean;
  readonly problem: string | null;
  readonly tools: readonly TestedTool[];
  /** Names that the server is allowed and does not list. */
  readonly unknownTools: readonly string[];
}

interface TestedTool extends ListedTool {
  readonly allowed: boolean;
  /** Name under which the model gets it; null if it does not. */
  readonly callName: string | null;
  /** Why the model does not get an allowed tool. */
  readonly problem: string | null;
}

/** Lists the tools of an assistant's server, without the memory of earlier lists. @throws ASSISTANT_NOT_FOUND, TOOL_SERVER_NOT_FOUND */
export async function testToolServer(
  scope: Scope,
  assistantId: string,
  name: string,
): Promise<ToolServerTest> {
  const assistant = await scope.of(Assistants).byId(assistantId);
  const servers = await scope.of(ToolServers).addresses(assistant);
  const server = servers.find((one) => one.name === name) ?? missing("ToolServer", name);
  try {
    const listed = await scope.ports.tools.list(server, 0);
    const names = new Set(listed.map((tool) => tool.name));
    return {
      connected: true,
      problem: null,
      tools: await Promise.all(listed.map((tool) => tested(scope, server, tool))),
      unknownTools: (server.allowedTools ?? []).filter((tool) => !names.has(tool)),
    };
  } catch (error) {
    if (!(error instanceof ToolServerFailure)) throw error;
    return { connected: false, problem: error.message, tools: [], unknownTools: [] };
  }
}

async function tested(
  { organizationId, ports }: Scope,
  { name, allowedTools }: ToolServer,
  tool: ListedTool,
): Promise<TestedTool> {
  const allowed = allowedTools?.includes(tool.name) ?? true;
  const unusable = allowed ? await ports.checker.problemOf(organizationId, tool.parameters) : undefined;
  const problem = unusable === undefined ? null : `The tool has parameters that ${unusable}`;
  const callName = allowed && problem === null ? callNameOf(name, tool.name) : null;
  return { ...tool, allowed, callName, problem };
}
