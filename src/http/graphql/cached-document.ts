import { getArgumentValues, type DocumentNode, type GraphQLError, type GraphQLSchema } from "graphql";
import { DocumentCost } from "./document-cost";
import type { OperationResult, Part } from "./repeatable-mutations";
import { rootFieldsOf } from "./root-fields";

type Values = Record<string, unknown>;

/** A document compiled by the engine that REST uses too. */
export interface CompiledDocument<Context> {
  readonly coerce: (values: Values) => {
    readonly errors?: readonly GraphQLError[];
    readonly coerced?: Values;
  };
  readonly run: (context: Context, variables: Values) => Promise<OperationResult>;
}

export interface CompileOptions<Context> {
  readonly schema: GraphQLSchema;
  /** Compiles a document with one operation. */
  readonly compile: (document: DocumentNode) => CompiledDocument<Context>;
  /** Whether a root field waits for HTTP requests of its own with these arguments. */
  readonly waits: (field: string, args: Readonly<Values>) => boolean;
}

export interface CachedDocument<Context> extends CompiledDocument<Context> {
  readonly cost: DocumentCost;
  /** The root fields of a mutation, each to be run by itself. */
  readonly parts: (variables: Values) => Part<Context>[];
}

export function cachedDocument<Context>(
  { schema, compile, waits }: CompileOptions<Context>,
  document: DocumentNode,
): CachedDocument<Context> {
  const mutations = schema.getMutationType()?.getFields() ?? {};
  const compileParts = () =>
    rootFieldsOf(document).map(({ key, node, document }) => ({ key, node, run: compile(document).run }));
  let parts: ReturnType<typeof compileParts> | undefined;
  return {
    ...compile(document),
    cost: new DocumentCost(schema, document),
    parts: (variables) =>
      (parts ??= compileParts()).map(({ key, node, run }) => {
        const { value: name } = node.name;
        const field = mutations[name]; // none for __typename
        return {
          key,
          waits: field !== undefined && waits(name, getArgumentValues(field, node, variables)),
          run: (context) => run(context, variables),
        };
      }),
  };
}
