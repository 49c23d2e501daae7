import { Kind, visit, type DocumentNode, type GraphQLSchema } from "graphql";
import { LRUCache } from "lru-cache";
import { costOf, SIZES, type CostResult } from "./graphql-limits";

/** Number of results to remember for a document: clients ask for few sizes. */
const MAX_RESULTS = 50;

/** The cost of a document, remembered by the values of the variables that it depends on. */
export class DocumentCost {
  private readonly known = new LRUCache<string, CostResult>({ max: MAX_RESULTS });
  private readonly names: readonly string[];
  /** Variables whose values decide how many entries are read, and which fields. */
  private readonly sizes: ReadonlySet<string>;

  /** @param document with one operation */
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly document: DocumentNode,
  ) {
    this.names = variablesIn(document);
    this.sizes = new Set(sizingVariables(document));
  }

  of(variables: Readonly<Record<string, unknown>>): CostResult {
    // Whether the others are null decides only whether the document is refused.
    const key = JSON.stringify(
      this.names.map((name) => {
        const value = variables[name];
        if (value === undefined) return "absent"; // unlike null, it takes the variable's default
        if (Array.isArray(value) && this.sizes.has(name)) return { length: value.length };
        if (value === null) return value;
        // Any text counts as one entry, and may have megabytes.
        return this.sizes.has(name) && typeof value !== "string" ? value : "given";
      }),
    );
    const known = this.known.get(key);
    if (known) return known;
    const counted = costOf(this.schema, this.document, variables);
    if (!counted.problem && !counted.refusal) this.known.set(key, counted);
    return counted;
  }
}

function variablesIn(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, { Variable: ({ name }) => void names.add(name.value) });
  return [...names];
}

/** Variables in arguments that count entries, and in directives. */
function sizingVariables(document: DocumentNode): string[] {
  const names: string[] = [];
  visit(document, {
    Argument: ({ name, value }) => {
      if (value.kind === Kind.VARIABLE && SIZES.includes(name.value)) names.push(value.name.value);
    },
    Directive: ({ arguments: given = [] }) => {
      for (const { value } of given) if (value.kind === Kind.VARIABLE) names.push(value.name.value);
    },
  });
  return names;
}
