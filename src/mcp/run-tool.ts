import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { getOperationAST, GraphQLError, parse, type DocumentNode, type GraphQLFormattedError } from "graphql";
import { coerce, type Engine, type Run } from "../../rest-compat/run";
import type { Context } from "../../schema/core/context";
import { DocumentCost } from "../http/graphql/document-cost";
import { refusedVariables, withCode } from "../http/graphql/graphql-refusals";
import { guess } from "../http/graphql/ignored-names";
import { DomainError, invalid } from "../platform/errors";
import { revealed } from "../platform/json/json-source";
import type { OperationTool } from "./tools";

type Format = (error: GraphQLError, context: Context) => GraphQLFormattedError;
interface Compiled {
  readonly document: DocumentNode;
  readonly cost: DocumentCost;
  readonly run: Run;
}

/** Runs the documents of tools as GraphQL would: with the same coercion, rules, cost limit and errors. */
export class ToolRunner {
  private readonly compiled = new Map<string, Compiled>();

  constructor(
    private readonly engine: Engine,
    private readonly format: Format,
  ) {}

  /** Runs a tool. Errors are part of its result, as the protocol asks, so that the agent can correct its call. */
  async call(
    tool: OperationTool,
    values: Record<string, unknown>,
    context: Context,
  ): Promise<CallToolResult> {
    const { data, errors } = await this.run(tool, values, context);
    if (errors.length > 0) return failure(errors.map((error) => this.format(error, context)));
    const { warnings } = context.scope.notes;
    const shown = { ...(data as object), ...(warnings.length > 0 && { warnings }) };
    const text = revealed(JSON.stringify(shown));
    return {
      content: [{ type: "text", text }],
      structuredContent: JSON.parse(text) as Record<string, unknown>,
    };
  }

  private async run(tool: OperationTool, values: Record<string, unknown>, context: Context) {
    const errors = this.refusal(tool, values);
    if (errors.length > 0) return { errors };
    const { document, run } = this.compile(tool);
    const { coerced = {} } = coerce(this.engine.schema, getOperationAST(document)!, values);
    try {
      const { data, errors = [] } = await run(context, coerced);
      return { data, errors };
    } catch (error) {
      return { errors: [new GraphQLError((error as Error).message, { originalError: error as Error })] };
    }
  }

  /** Why a call may not run. */
  private refusal(tool: OperationTool, values: Record<string, unknown>): readonly GraphQLError[] {
    const unknown = Object.keys(values).filter((name) => !tool.arguments.includes(name));
    if (unknown.length > 0)
      return unknown.slice(0, MAX_NAMED).map((name) => {
        const message = `is unknown. ${guess(name, tool.arguments, "The tool")}`;
        const originalError = invalid([{ path: name.slice(0, MAX_NAME_LENGTH), message }]);
        return new GraphQLError(originalError.message, { originalError });
      });
    const { schema } = this.engine;
    const { document, cost } = this.compile(tool);
    const operation = getOperationAST(document)!; // a tool has one operation
    const { errors } = coerce(schema, operation, values);
    if (errors)
      return refusedVariables({ schema, introspection: true }, document, operation, values, errors).map(
        (error) => withCode(error, "BAD_USER_INPUT"),
      );
    const { refusal, problem } = cost.of(values);
    if (refusal) return [withCode(refusal, "BAD_USER_INPUT")];
    return problem ? [withCode(problem, "COST_LIMIT")] : [];
  }

  private compile(tool: OperationTool): Compiled {
    const known = this.compiled.get(tool.tool.name);
    if (known) return known;
    const document = parse(tool.document);
    const { schema } = this.engine;
    const made = { document, cost: new DocumentCost(schema, document), run: this.engine.compile(document) };
    this.compiled.set(tool.tool.name, made);
    return made;
  }
}

const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 60;

function failure(errors: readonly GraphQLFormattedError[]): CallToolResult {
  const shown = errors.map(({ message, path, extensions }) => ({
    message,
    ...(path && { path }),
    ...extensions,
  }));
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify({ errors: shown }) }],
    structuredContent: { errors: shown },
  };
}

/** The codes of the errors in a result. */
export function codesIn({ isError, structuredContent }: CallToolResult): readonly string[] {
  if (!isError) return [];
  const { errors } = structuredContent as { errors: readonly { readonly code: string }[] };
  return errors.map(({ code }) => code);
}

/** The data of a resource. @throws DomainError if it cannot be read */
export function dataOf({ isError, structuredContent }: CallToolResult): Record<string, unknown> {
  const data = structuredContent as Record<string, unknown>;
  if (!isError) return data;
  const [{ message, code }] = data.errors as [{ message: string; code: DomainError["code"] }];
  throw new DomainError(code, message);
}
