import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { printSchema, type GraphQLSchema } from "graphql";
import { admit } from "../../schema/core/access";
import type { Context } from "../../schema/core/context";
import type { Caller } from "../account/auth/caller";
import { DomainError } from "../platform/errors";
import { codesIn, dataOf, type ToolRunner } from "./run-tool";
import { sdk } from "./sdk";
import type { OperationTool } from "./tools";

export interface McpOptions {
  readonly schema: GraphQLSchema;
  readonly version: string;
  readonly tools: ReadonlyMap<string, OperationTool>;
  readonly runner: ToolRunner;
  /** Called with the codes of the errors in a result. */
  readonly failed: (codes: readonly string[]) => void;
}

const INSTRUCTIONS =
  "Parley runs AI assistants that talk with people by voice, text chat and SMS. Build one with createAssistant, updateChatConfiguration and the tools for its other configurations; test it with startChat and postMessage (withReply: true adds its answer); inspect conversations with logs and log. The resource parley://schema is the whole GraphQL schema.";

const SCHEMA = "parley://schema";
const TEMPLATES = [
  {
    uriTemplate: "parley://assistants/{id}",
    name: "assistant",
    description: "An assistant with its four configurations.",
    mimeType: "application/json",
  },
  {
    uriTemplate: "parley://assistants/{assistantId}/logs/{id}",
    name: "log",
    description: "What was said in a conversation of an assistant.",
    mimeType: "application/json",
  },
];

/** An MCP server for one request of a caller: the protocol is stateless here. */
export function mcpServer(options: McpOptions, caller: Caller, newContext: () => Context): Server {
  const { schema, version, tools } = options;
  const requests = sdk();
  const server = new requests.Server(
    { name: "parley", version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  const run = runOf(options, newContext);

  server.setRequestHandler(requests.ListToolsRequestSchema, () => ({
    tools: [...tools.values()].filter(({ access }) => mayRun(access, caller)).map(({ tool }) => tool),
  }));
  server.setRequestHandler(
    requests.CallToolRequestSchema,
    async ({ params: { name, arguments: values = {} } }) => {
      const { ErrorCode, McpError } = requests;
      if (!tools.has(name))
        throw new McpError(ErrorCode.InvalidParams, `There is no tool ${name.slice(0, 60)}.`);
      return run(name, values);
    },
  );
  server.setRequestHandler(requests.ListResourcesRequestSchema, () => ({
    resources: [{ uri: SCHEMA, name: "schema", description: "The GraphQL schema.", mimeType: "text/plain" }],
  }));
  server.setRequestHandler(requests.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: TEMPLATES,
  }));
  server.setRequestHandler(requests.ReadResourceRequestSchema, async ({ params: { uri } }) => {
    if (uri === SCHEMA) return { contents: [{ uri, mimeType: "text/plain", text: printSchema(schema) }] };
    const [tool, values] = resourceOf(uri);
    const text = JSON.stringify(dataOf(await run(tool, values)), null, 2);
    return { contents: [{ uri, mimeType: "application/json", text }] };
  });
  return server;
}

/** Runs a tool, and reports the codes of its errors. */
const runOf =
  ({ tools, runner, failed }: McpOptions, newContext: () => Context) =>
  async (name: string, values: Record<string, unknown>) => {
    const result = await runner.call(tools.get(name)!, values, newContext());
    failed(codesIn(result));
    return result;
  };

/** The tool that reads a resource, and its arguments. @throws McpError for an unknown URI */
function resourceOf(uri: string): [tool: string, values: Record<string, unknown>] {
  const ids = /^parley:\/\/assistants\/([^/]+)(?:\/logs\/([^/]+))?$/.exec(uri)?.slice(1);
  const [assistantId, id] = ids?.map(decoded) ?? [];
  const { McpError } = sdk();
  if (assistantId === undefined || (id === undefined && ids?.[1] !== undefined))
    throw new McpError(RESOURCE_NOT_FOUND, `There is no resource ${uri.slice(0, 200)}.`);
  return id === undefined ? ["assistant", { id: assistantId }] : ["log", { assistantId, id }];
}

/** An id in a URI; undefined without one, and if it is not percent-encoded UTF-8. */
function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Of the specification of MCP; the SDK has no name for it. */
const RESOURCE_NOT_FOUND = -32002;

function mayRun(access: OperationTool["access"], caller: Caller): boolean {
  try {
    admit(access, caller);
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}
