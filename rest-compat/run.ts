import {
  execute,
  extendSchema,
  getVariableValues,
  Kind,
  parse,
  visit,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";
import type { Context } from "../schema/context";
import { DomainError } from "../src/errors";

export type Result = ExecutionResult<Record<string, unknown>>;
/** A compiled document. The variables have been coerced before. */
export type Run = (context: Context, variables: Record<string, unknown>) => Promise<Result>;
/** How long an operation may take, in milliseconds. */
const DEADLINE = 10_000;

const PASS_THROUGH = "PassThrough";

/**
 * Compiles documents with graphql-jit. Variables are coerced by graphql-js before (graphql-jit refuses an omitted
 * input field that has a default), so the compiled document takes them as they are: its variables have a type that
 * lets everything through, in a copy of the schema that knows that type.
 */
export class Engine {
  private readonly copy: GraphQLSchema;

  constructor(readonly schema: GraphQLSchema) {
    this.copy = extendSchema(schema, parse(`scalar ${PASS_THROUGH}`));
  }

  compile(document: DocumentNode, operationName?: string): Run {
    const run = usesVariablesWhereJitCannot(document)
      ? this.plain(document, operationName)
      : this.jit(document, operationName);
    return (context, variables) => withDeadline(run(context, variables));
  }

  /** Runs a document as graphql-js itself does. */
  plain(document: DocumentNode, operationName?: string): Run {
    const { schema } = this;
    return async (contextValue, variableValues) =>
      await execute({ schema, document, operationName, contextValue, variableValues });
  }

  private jit(document: DocumentNode, operationName?: string): Run {
    const loose = visit(document, {
      VariableDefinition: (node) => ({
        ...node,
        type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: PASS_THROUGH } },
        defaultValue: undefined,
      }),
    });
    const compiled = compileQuery(this.copy, loose, operationName);
    if (!isCompiledQuery(compiled)) return () => Promise.resolve(compiled as Result);
    return async (context, variables) => await compiled.query(undefined, context, variables);
  }
}

/** The variables of an operation as its resolvers will see them, or what is wrong with them. */
export const coerce = (
  schema: GraphQLSchema,
  { variableDefinitions }: OperationDefinitionNode,
  values: Record<string, unknown>,
) => getVariableValues(schema, variableDefinitions ?? [], values, { maxErrors: 50 });

/** A variable inside an object or list literal, or one that decides about a field. */
function usesVariablesWhereJitCannot(document: DocumentNode): boolean {
  let found = false;
  let literals = 0;
  const literal = { enter: () => void literals++, leave: () => void literals-- };
  visit(document, {
    ObjectValue: literal,
    ListValue: literal,
    Variable: () => void (found ||= literals > 0),
    Directive: ({ name }) => void (found ||= name.value === "skip" || name.value === "include"),
  });
  return found;
}

async function withDeadline(result: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DomainError("TIMEOUT", "The request took longer than 10 s and was given up.")),
      DEADLINE,
    );
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}
