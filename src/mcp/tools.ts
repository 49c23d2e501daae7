import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import {
  isRequiredArgument,
  parse,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
} from "graphql";
import { argumentSchema, Components, type JsonSchema } from "../../rest-compat/json-schema";
import { accessOf, type Access } from "../../schema/core/access";
import { AGENT_TOOLS, type AgentTool } from "../../schema/core/agent-tools";
import { toolDocument } from "./tool-document";

/** An operation as a tool, with the document that it runs. */
export interface OperationTool {
  readonly tool: Tool;
  readonly access: Access;
  readonly document: string;
  readonly arguments: readonly string[];
}

/** The tools by name. @throws Error if a mark names no operation */
export function toolsOf(schema: GraphQLSchema): ReadonlyMap<string, OperationTool> {
  const queries = schema.getQueryType()!.getFields(); // every schema has queries
  const mutations = schema.getMutationType()?.getFields() ?? {};
  return new Map(
    Object.entries(AGENT_TOOLS).map(([name, mark]) => {
      const field = queries[name] ?? mutations[name];
      if (!field) throw new Error(`AGENT_TOOLS names ${name}, which is neither a query nor a mutation.`);
      return [name, toolOf(schema, field, name in queries ? "query" : "mutation", mark)];
    }),
  );
}

function toolOf(
  schema: GraphQLSchema,
  field: GraphQLField<unknown, unknown>,
  kind: "query" | "mutation",
  mark: AgentTool,
): OperationTool {
  const { name, args, description } = field;
  const document = toolDocument(kind, field, mark.shows ?? []);
  parse(document);
  return {
    tool: {
      name,
      description: description ?? "",
      inputSchema: inputSchemaOf(schema, args),
      annotations: {
        readOnlyHint: mark.effect === "reads",
        destructiveHint: mark.effect === "sets" || mark.effect === "deletes",
        idempotentHint: mark.effect !== "adds",
        openWorldHint: mark.reachesOut === true,
      },
    },
    access: accessOf(name, kind === "mutation"),
    document,
    arguments: args.map(({ name }) => name),
  };
}

/** The arguments of an operation as JSON Schema, with the rules that the service enforces. */
function inputSchemaOf(schema: GraphQLSchema, args: readonly GraphQLArgument[]): Tool["inputSchema"] {
  const components = new Components(schema);
  const properties = Object.fromEntries(args.map((arg) => [arg.name, argumentSchema(components, arg)]));
  const whole = {
    type: "object" as const,
    properties,
    required: args.filter(isRequiredArgument).map(({ name }) => name),
    additionalProperties: false,
    ...(Object.keys(components.schemas).length > 0 && { $defs: components.schemas }),
  };
  return JSON.parse(
    JSON.stringify(whole).replaceAll("#/components/schemas/", "#/$defs/"),
  ) as Tool["inputSchema"] & JsonSchema;
}
