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
import { DocumentCost } from "../src/http/graphql/document-cost";
import { codeOf, operationSpan } from "../src/http/graphql/operation-span";
import { tracing, type Tracer } from "../src/platform/tracing/tracing";

export type Result = ExecutionResult<Record<string, unknown>>;
/** A compiled document. It expects coerced variables. */
export type Run = (context: Context, variables: Record<string, unknown>) => Promise<Result>;

const PASS_THROUGH = "PassThrough";

/**
 * Compiles documents with graphql-jit. graphql-js coerces the variables first, because graphql-jit refuses omitted
 * input fields with defaults. So the compiled document must take them unchanged: its variables get a pass-through
 * type, defined in a copy of the schema.
 */
export class Engine {
  private extended: GraphQLSchema | undefined;

  constructor(readonly schema: GraphQLSchema) {}

  /** Made at the first use, so that startup does not copy the schema. */
  private get copy(): GraphQLSchema {
    return (this.extended ??= extendSchema(this.schema, parse(`scalar ${PASS_THROUGH}`)));
  }

  /** @param document with one operation */
  compile(document: DocumentNode): Run {
    const run = needsGraphQLJs(document) ? this.plain(document) : this.jit(document);
    const deadline = this.deadlineOf(document);
    const span = operationSpan(document);
    return (context, variables) =>
      tracing.tracer
        ? traced(tracing.tracer, span, () => withDeadline(run(context, variables), deadline))
        : withDeadline(run(context, variables), deadline);
  }

  /** The longest deadline of the document's fields, in ms. */
  private deadlineOf(document: DocumentNode): number {
    let longest = 0;
    const info = new TypeInfo(this.schema);
    const Field = () => void (longest = Math.max(longest, deadlineOf(info.getFieldDef()!)));
    visit(document, visitWithTypeInfo(info, { Field }));
    return longest;
  }

  /** Runs a document with graphql-js itself. */
  plain(document: DocumentNode): Run {
    const { schema } = this;
    return async (contextValue, variableValues) =>
      await execute({ schema, document, contextValue, variableValues });
  }

  /** The cost of a document, by coerced variables. */
  cost(document: DocumentNode): DocumentCost {
    return new DocumentCost(this.copy, withCoerced(document));
  }

  private jit(document: DocumentNode): Run {
    const compiled = compileQuery(this.copy, withCoerced(document));
    if (!isCompiledQuery(compiled)) return () => Promise.resolve(compiled as Result);
    return async (context, variables) => await compiled.query(undefined, context, variables);
  }
}

/** A document that takes coerced variables unchanged. */
const withCoerced = (document: DocumentNode): DocumentNode =>
  visit(document, {
    VariableDefinition: (node) => ({
      ...node,
      type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: PASS_THROUGH } },
      defaultValue: undefined,
    }),
  });

/** Runs an operation in its span. Errors are part of its result. */
const traced = (
  tracer: Tracer,
  { name, attributes }: ReturnType<typeof operationSpan>,
  run: () => Promise<Result>,
) =>
  tracer.run(name, { attributes }, async (span) => {
    const result = await run();
    const [error] = result.errors ?? [];
    if (error) span.fail(codeOf(error));
    return result;
  });

/** Coerces the variables of an operation, as its resolvers will see them. */
export const coerce = (
  schema: GraphQLSchema,
  { variableDefinitions }: OperationDefinitionNode,
  values: Record<string, unknown>,
) => getVariableValues(schema, variableDefinitions ?? [], values, { maxErrors: 50 });

/**
 * Whether graphql-js must run the document: graphql-jit does not support variables inside object or list literals,
 * variables in @skip and @include, or literals whose source text matters. Introspection must not see the copied
 * schema.
 */
function needsGraphQLJs(document: DocumentNode): boolean {
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
        new DomainError(
          "TIMEOUT",
          `The request took longer than ${milliseconds / 1000} s and was canceled. Ask for less at once, or try again.`,
        ),
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
