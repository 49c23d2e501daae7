import { Args, ArgsType, Ctx, ID, InputType, ObjectType, Resolver } from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { ToolServers } from "../../src/assistants/tool-servers/tool-servers";
import { testToolServer } from "../../src/conversation/functions/test-tool-server";
import { Assistant } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Deadline } from "../core/deadline";
import { Field, FieldResolver, Mutation, Root } from "../core/decorators";
import { Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";

const ALLOWED_TOOLS = "Names of the tools that may be called, as the server lists them";

@ObjectType({
  description:
    "Server of the Model Context Protocol (Streamable HTTP) whose tools an assistant's model can call, as it calls functions.",
  simpleResolvers: true,
})
export class ToolServer {
  @Field({ description: "Name, unique within the assistant." })
  name!: string;
  @Field({ description: "URL of the server." })
  url!: string;
  @Field(() => [String], {
    description: "Names of the headers of every request to the server. Their values are never shown.",
  })
  headerNames!: readonly string[];
  @Field(() => [String], {
    nullable: true,
    description: `${ALLOWED_TOOLS}; null: all tools.`,
  })
  allowedTools!: readonly string[] | null;
}

@InputType({ description: "Server of the Model Context Protocol whose tools an assistant's model can call." })
export class ToolServerInput {
  @Rule({ minLength: 1, maxLength: 32 })
  @Field({
    description:
      "Name, 1 to 32 letters, digits, _ or -, unique within the assistant. It is the prefix of the names of the server's tools: the model gets the tool find_order of the server shop as shop_find_order.",
  })
  name!: string;
  @Rule({ minLength: 1, maxLength: 2048 })
  @Field({
    description:
      "URL of the server, 1 to 2,048 characters. Put secrets into headers: everyone who may read the assistant sees the URL. Private addresses need the operator's consent (OUTBOUND_ALLOW).",
  })
  url!: string;
  @Field(() => JSONObject, {
    nullable: true,
    description:
      'Headers of every request to the server, by name, at most 16, such as {Authorization: "Bearer …"}. They are stored encrypted and never shown again. If omitted or null, the stored headers of the server with this name are kept while the origin of its URL stays the same; otherwise there are none.',
  })
  headers?: Record<string, unknown> | null;
  @Rule({ minLength: 1, maxLength: 128, minItems: 1, maxItems: 64 })
  @Field(() => [String], {
    nullable: true,
    description: `${ALLOWED_TOOLS}, 1 to 64. Omitted or null: all tools.`,
  })
  allowedTools?: string[] | null;
}

@ObjectType({ description: "Tool of a server.", simpleResolvers: true })
export class ListedTool {
  @Field({ description: "The server's own name of the tool." })
  name!: string;
  @Field({ description: "The server's description of the tool, for the model." })
  description!: string;
  @Field(() => JSONObject, { description: "JSON Schema of its arguments." })
  parameters!: Record<string, unknown>;
  @Field({ description: "Whether the assistant may call it." })
  allowed!: boolean;
  @Field(() => String, {
    nullable: true,
    description:
      "Name that the model uses for the tool, composed of the names of the server and the tool; null if the model does not get the tool.",
  })
  callName!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "Reason why the model does not get an allowed tool; null otherwise.",
  })
  problem!: string | null;
}

@ObjectType({ description: "Result of a test of a tool server.", simpleResolvers: true })
export class ToolServerTest {
  @Field({ description: "Whether the server listed its tools." })
  connected!: boolean;
  @Field(() => String, {
    nullable: true,
    description: "Reason why the server did not list its tools; null if it did.",
  })
  problem!: string | null;
  @Field(() => [ListedTool], {
    description: "Tools of the server, at most 256. The model gets at most 64 of all servers.",
  })
  tools!: readonly ListedTool[];
  @Field(() => [String], { description: "Names in allowedTools that the server does not list." })
  unknownTools!: readonly string[];
}

@ArgsType()
class ToolServersArgs {
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Rule({ maxItems: 8 })
  @Field(() => [ToolServerInput], { description: "All servers of the assistant, at most 8." })
  servers!: ToolServerInput[];
}

@ArgsType()
class TestToolServerArgs {
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Field({ description: "Name of the server." })
  name!: string;
}

@Resolver(() => Assistant)
export class ToolServerResolver {
  @FieldResolver(() => [ToolServer], {
    description: "Servers of the Model Context Protocol whose tools its model can call, on every channel.",
  })
  toolServers(@Root() { toolServers }: Assistant): readonly ToolServer[] {
    return toolServers ?? [];
  }

  @Mutation(() => Assistant, {
    description:
      "Replaces the servers of the Model Context Protocol whose tools an assistant's model can call. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  async updateToolServers(@Args() { assistantId, servers }: ToolServersArgs, @Ctx() { scope }: Context) {
    await scope.of(ToolServers).set(assistantId, servers);
    return scope.of(Assistants).byId(assistantId);
  }

  @Deadline(10_000)
  @Mutation(() => ToolServerTest, {
    description:
      "Connects to a tool server of an assistant and lists its tools. Errors: ASSISTANT_NOT_FOUND, TOOL_SERVER_NOT_FOUND.",
  })
  testToolServer(@Args() { assistantId, name }: TestToolServerArgs, @Ctx() { scope }: Context) {
    return testToolServer(scope, assistantId, name);
  }
}
