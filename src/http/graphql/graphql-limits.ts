import { ApolloArmor } from "@escape.tech/graphql-armor";
import {
  getNamedType,
  getNullableType,
  GraphQLError,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from "graphql";
import { DEFAULT_SIZE } from "../../platform/database/lists/connection";
import { getComplexity } from "graphql-query-complexity";

/** Maximum number of lexical tokens in a document. */
export const MAX_TOKENS = 1_000;
/** Maximum size of the query text, in bytes. */
export const MAX_QUERY_BYTES = 65_536;
const MAX_COST = 5_000;
/** Arguments that say how many entries a list may return. */
export const SIZES: readonly string[] = ["take", "first", "last", "ids"];
/** Records that a list without pages usually has, at most. */
const UNPAGED_SIZE = 10;
const OFF = { enabled: false } as const;

/** Validation rules besides the specification's: depth 12, 15 aliases, 50 directives, one placed call, one schema. */
export function rulesOf(): ValidationRule[] {
  const armor = new ApolloArmor({
    maxDepth: { n: 12, ignoreIntrospection: true },
    maxAliases: { n: 15 },
    maxDirectives: { n: 50 },
    costLimit: OFF,
    maxTokens: OFF,
    blockFieldSuggestion: OFF,
  });
  return [...armor.protect().validationRules, oneCall, oneSchema];
}

/** Refuses mutations that would place two calls, because a placed call cannot be undone. */
function oneCall(context: ValidationContext): ASTVisitor {
  const fields = context.getSchema().getMutationType()?.getFields() ?? {};
  // Each fragment is read once: spreads that repeat it add no field, and fragments that repeat others would take forever.
  const placing = ({ selections }: SelectionSetNode, seen: Set<string>): FieldNode[] =>
    selections.flatMap((node) => {
      if (node.kind === Kind.FIELD) return fields[node.name.value]?.extensions.dials ? [node] : [];
      if (node.kind === Kind.INLINE_FRAGMENT) return placing(node.selectionSet, seen);
      const name = node.name.value;
      const fragment = seen.has(name) ? undefined : context.getFragment(name);
      seen.add(name);
      return fragment ? placing(fragment.selectionSet, seen) : [];
    });
  return {
    OperationDefinition: (operation) => {
      if (operation.operation !== OperationTypeNode.MUTATION) return;
      const [, second] = placing(operation.selectionSet, new Set());
      if (second)
        context.reportError(
          new GraphQLError("A document may place only one call. Send a request for each call.", {
            nodes: second,
          }),
        );
    },
  };
}

/** Types of the schema that a document may ask for, each of which may be large; the whole schema counts as many. */
const MOST_TYPES = 3;

/** Refuses documents that ask for the schema, or parts of it, many times: nobody needs that, and it is large. */
function oneSchema(context: ValidationContext): ASTVisitor {
  const asked = new Map<string, number>();
  return {
    Field: (node) => {
      const { name, alias } = node;
      const isPart = context.getParentType()?.name.startsWith("__") === true;
      if (name.value === "__schema" || name.value === "__type")
        asked.set((alias ?? name).value, name.value === "__schema" ? MOST_TYPES : 1);
      const types = [...asked.values()].reduce((sum, count) => sum + count, 0);
      if (types > MOST_TYPES || (isPart && alias !== undefined))
        context.reportError(
          new GraphQLError(
            `A document may ask for the schema once, or for ${MOST_TYPES} types, without aliases in them.`,
            { nodes: node },
          ),
        );
    },
  };
}

/** The cost of an operation, and why it may not run. */
export interface CostResult {
  readonly cost?: { readonly requested: number; readonly limit: number; readonly left: number };
  /** Set if the operation costs too much. */
  readonly problem?: GraphQLError;
  /** Set if a variable is null where null is not allowed. */
  readonly refusal?: GraphQLError;
}

/**
 * Computes the cost of a document with one operation: about one point per object that it may return. A list counts `take`,
 * `first` or `last` entries, one for each of its `ids` or, without any of them, 20 records (10 if it has no pages), and a
 * field may count as several objects.
 */
export function costOf(
  schema: GraphQLSchema,
  query: DocumentNode,
  variables: Record<string, unknown>,
): CostResult {
  const requested = complexityOf(schema, query, variables);
  if (requested instanceof GraphQLError) return { refusal: requested };
  const cost = { requested, limit: MAX_COST, left: MAX_COST - requested };
  const message = `The operation costs ${requested}, more than ${MAX_COST}: request fewer entries, or fewer nested lists.`;
  return {
    cost,
    ...(requested > MAX_COST && { problem: new GraphQLError(message, { extensions: { cost } }) }),
  };
}

/**
 * Entries that a field without a size returns: the default of lists with pages, and 10 for a list of records without
 * any. Those of a page are counted by the field that returns the page, and parts of a record belong to the record.
 */
function usualEntries(parent: GraphQLCompositeType, field: GraphQLField<unknown, unknown>): number {
  if (field.args.some(({ name }) => ["first", "take"].includes(name))) return DEFAULT_SIZE;
  const isPage = isObjectType(parent) && ["pageInfo", "meta"].some((name) => name in parent.getFields());
  const entry = getNamedType(field.type);
  const isRecord = isObjectType(entry) && "id" in entry.getFields();
  return isListType(getNullableType(field.type)) && isRecord && !isPage ? UNPAGED_SIZE : 1;
}

/** @returns an error if a variable is null where null is not allowed: values are coerced here for the first time */
function complexityOf(
  schema: GraphQLSchema,
  query: DocumentNode,
  variables: Record<string, unknown>,
): number | GraphQLError {
  try {
    return getComplexity({
      schema,
      query,
      variables,
      estimators: [
        ({ type, field, args, childComplexity }) => {
          if (isLeafType(getNamedType(field.type))) return 0;
          const counts = SIZES.map((name) => (args as Readonly<Record<string, unknown>>)[name]);
          const entries = counts
            .map((count) => (Array.isArray(count) ? count.length : count))
            .find((count) => typeof count === "number");
          const own = (field.extensions.countsAs as number | undefined) ?? 1; // only CountsAs writes it
          return Math.max(1, entries ?? usualEntries(type, field)) * (own + childComplexity);
        },
      ],
    });
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}
