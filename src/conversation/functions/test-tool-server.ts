import { Assistants } from "../../assistants/assistants/assistants";
import { ToolServers } from "../../assistants/tool-servers/tool-servers";
import type { JsonObject } from "../../platform/json/json-object";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import { ToolServerFailure } from "../../platform/ports/tool-client";

/** The tools of a server now, or why it cannot be used. */
export interface ToolServerTest {
  readonly connected: boolean;
  readonly problem: string | null;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonObject;
    readonly allowed: boolean;
  }[];
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
    const tools = listed.map((tool) => ({
      ...tool,
      allowed: server.allowedTools?.includes(tool.name) ?? true,
    }));
    return { connected: true, problem: null, tools };
  } catch (error) {
    if (!(error instanceof ToolServerFailure)) throw error;
    return { connected: false, problem: error.message, tools: [] };
  }
}
