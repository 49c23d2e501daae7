import {
  execute,
  extendSchema,
  getVariableValues,
  Kind,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";
import type { Context } from "../schema/core/context";
import { deadlineOf } from "../schema/core/deadline";
import { DomainError } from "../src/platform/errors";

export type Result = ExecutionResult<Record<string, unknown>>;
/** A compiled document. The variables have been coerced before. */
export type Run = (context: Context, variables: Record<string, unknown>) => Promise<Result>;

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
    const run = isForPlain(document)
      ? this.plain(document, operationName)
      : this.jit(document, operationName);
    const deadline = this.deadlineOf(document);
    return (context, variables) => withDeadline(run(context, variables), deadline);
  }

  /** That of its most patient field, in milliseconds. */
  private deadlineOf(document: DocumentNode): number {
    let most = 0;
    const info = new TypeInfo(this.schema);
    const Field = () => void (most = Math.max(most, deadlineOf(info.getFieldDef()!)));
    visit(document, visitWithTypeInfo(info, { Field }));
    return most;
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

/**
 * What graphql-jit cannot do: a variable inside an object or list literal, one that decides about a field, or a literal
 * whose text counts. And what asks for the schema itself, as the copy that is compiled against differs from it.
 */
function isForPlain(document: DocumentNode): boolean {
  let found = false;
  let literals = 0;
  const literal = { enter: () => void literals++, leave: () => void literals-- };
  visit(document, {
    ObjectValue: literal,
    ListValue: literal,
    ObjectField: ({ name }) => void (found ||= name.value === "functions"),
    Variable: () => void (found ||= literals > 0),
    Field: ({ name }) => void (found ||= name.value === "__schema" || name.value === "__type"),
    Directive: ({ name }) => void (found ||= name.value === "skip" || name.value === "include"),
  });
  return found;
}

function withDeadline(result: Promise<Result>, milliseconds: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(
        new DomainError("TIMEOUT", `The request took longer than ${milliseconds / 1000} s and was given up.`),
      );
    const timer = setTimeout(late, milliseconds);
    const settle =
      <T>(settled: (value: T) => void) =>
      (value: T) => {
        clearTimeout(timer);
        settled(value);
      };
    result.then(settle(resolve), settle(reject));
  });
}
