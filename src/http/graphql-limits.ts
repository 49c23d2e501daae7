import { ApolloArmor } from "@escape.tech/graphql-armor";
import {
  getNamedType,
  GraphQLError,
  isLeafType,
  Kind,
  OperationTypeNode,
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from "graphql";
import { getComplexity } from "graphql-query-complexity";

/** Most lexical tokens in a document. */
export const MOST_TOKENS = 1_000;
/** Most bytes of a query's text. */
export const MOST_QUERY_BYTES = 65_536;
const MOST_COST = 5_000;
const OFF = { enabled: false } as const;

/** Rules beside the specification's: depth 12, 15 aliases, 50 directives, one operation, one call that is placed. */
export function rulesOf(): ValidationRule[] {
  const armor = new ApolloArmor({
    maxDepth: { n: 12, ignoreIntrospection: true },
    maxAliases: { n: 15 },
    maxDirectives: { n: 50 },
    costLimit: OFF,
    maxTokens: OFF,
    blockFieldSuggestion: OFF,
  });
  return [...armor.protect().validationRules, oneOperation, oneCall];
}

function oneOperation(context: ValidationContext): ASTVisitor {
  return {
    Document: ({ definitions }) => {
      const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
      if (operations.length > 1)
        context.reportError(new GraphQLError("A request may hold one operation.", { nodes: operations[1] }));
    },
  };
}

/** Calls can't be taken back: a mutation that would place two is refused before it places one. */
function oneCall(context: ValidationContext): ASTVisitor {
  const fields = context.getSchema().getMutationType()?.getFields() ?? {};
  const placing = ({ selections }: SelectionSetNode, path: readonly string[]): FieldNode[] =>
    selections.flatMap((node) => {
      if (node.kind === Kind.FIELD) return fields[node.name.value]?.extensions.dials ? [node] : [];
      if (node.kind === Kind.INLINE_FRAGMENT) return placing(node.selectionSet, path);
      const name = node.name.value;
      const fragment = path.includes(name) ? undefined : context.getFragment(name);
      return fragment ? placing(fragment.selectionSet, [...path, name]) : [];
    });
  return {
    OperationDefinition: (operation) => {
      if (operation.operation !== OperationTypeNode.MUTATION) return;
      const [, second] = placing(operation.selectionSet, []);
      if (second) context.reportError(new GraphQLError("A request may place one call.", { nodes: second }));
    },
  };
}

/** What an operation costs, and why it may not run. */
interface Counted {
  readonly cost?: { readonly requested: number; readonly limit: number; readonly left: number };
  /** It costs too much. */
  readonly problem?: GraphQLError;
  /** A variable's null fills a place that takes none. */
  readonly refusal?: GraphQLError;
}

/**
 * What an operation costs: about one for each object that it may return. A list counts its entries by `take`, `first`
 * or `last`.
 */
export function costOf(
  schema: GraphQLSchema,
  query: DocumentNode,
  operationName: string | undefined,
  variables: Record<string, unknown>,
): Counted {
  const requested = complexityOf(schema, query, operationName, variables);
  if (requested instanceof GraphQLError) return { refusal: requested };
  const cost = { requested, limit: MOST_COST, left: MOST_COST - requested };
  const message = `The operation costs ${requested}, more than ${MOST_COST}: ask for fewer entries at once, or for fewer lists inside lists.`;
  return {
    cost,
    ...(requested > MOST_COST && { problem: new GraphQLError(message, { extensions: { cost } }) }),
  };
}

/** Refused by an error where a null fills a place that takes none: the values are looked at here first. */
function complexityOf(
  schema: GraphQLSchema,
  query: DocumentNode,
  operationName: string | undefined,
  variables: Record<string, unknown>,
): number | GraphQLError {
  try {
    return getComplexity({
      schema,
      query,
      ...(operationName !== undefined && { operationName }),
      variables,
      estimators: [
        ({ field, args, childComplexity }) => {
          if (isLeafType(getNamedType(field.type))) return 0;
          const { take, first, last } = args as Readonly<Record<string, unknown>>;
          const entries = [take, first, last].find((count) => typeof count === "number") as
            number | undefined;
          return Math.max(1, entries ?? 1) * (1 + childComplexity);
        },
      ],
    });
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}
