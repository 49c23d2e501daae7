import { readFileSync } from "node:fs";
import { parse, stripIgnoredCharacters, validate, type GraphQLSchema } from "graphql";
import type { Logger } from "pino";
import { z } from "zod";
import { DomainError } from "../../platform/errors";
import ownOperations from "./own-operations.json";
import { subscriptionRules } from "./subscription-document";
import { mistake } from "../../platform/mistake";

/** Apollo's persisted query manifest. */
const Manifest = z.object({
  format: z.literal("apollo-persisted-query-manifest", {
    error: 'must be "apollo-persisted-query-manifest"',
  }),
  version: z.literal(1, { error: "must be 1" }),
  operations: z.array(
    z.object({
      id: z.string().min(1),
      name: z.string(),
      type: z.enum(["query", "mutation", "subscription"]),
      body: z.string().refine(isDocument, { error: "is not a GraphQL document" }),
    }),
  ),
});

export type PersistedOperation = z.infer<typeof Manifest>["operations"][number];

/** The members of a request that say which operation it runs; of any type, as the client sent them. */
export interface OperationParams {
  readonly query?: unknown;
  readonly extensions?: unknown;
}

/**
 * Reads GRAPHQL_PERSISTED_MANIFEST.
 * @throws Error that lists every problem of the file
 */
export function readManifest(path: string): PersistedOperation[] {
  const refuse = (lines: readonly string[]) =>
    mistake(
      new Error(
        `GRAPHQL_PERSISTED_MANIFEST ${path} is invalid:\n${lines.map((line) => `  - ${line}`).join("\n")}`,
      ),
    );
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw refuse([(error as Error).message]);
  }
  const { data, error } = Manifest.safeParse(content);
  if (error) throw refuse(error.issues.map(({ path, message }) => `${path.join(".") || "file"} ${message}`));
  const bodies = new Map<string, string>();
  for (const { id, body } of data.operations) {
    if ((bodies.get(id) ?? body) !== body) throw refuse([`two operations have the id ${id}`]);
    bodies.set(id, body);
  }
  return data.operations;
}

/** The operations that the schema refuses, each with the first reason. */
const unfitOperations = (schema: GraphQLSchema, operations: readonly PersistedOperation[]): string[] =>
  operations.flatMap(({ name, body }) => {
    const [problem] = validate(schema, parse(body), subscriptionRules());
    return problem ? [`${name}: ${problem.message}`] : [];
  });

/**
 * Makes operations runnable. Those of older clients may not fit the schema any more: they are logged, and fail when they
 * are run.
 */
export function runnable(
  operations: readonly PersistedOperation[],
  mode: "allow" | "only",
  schema: GraphQLSchema,
  logger: Pick<Logger, "warn">,
): PersistedOperations {
  for (const problem of unfitOperations(schema, operations))
    logger.warn({ problem }, "An operation of GRAPHQL_PERSISTED_MANIFEST does not fit the schema.");
  return new PersistedOperations(operations, mode === "only");
}

/** Operations that clients name by id instead of sending their text. */
export class PersistedOperations {
  private readonly bodies: ReadonlyMap<string, string>;
  private readonly texts: ReadonlySet<string>;

  /** @param isOnly whether documents are refused that are neither persisted nor those of the service's own pages */
  constructor(
    operations: readonly PersistedOperation[],
    private readonly isOnly: boolean,
  ) {
    this.bodies = new Map(operations.map(({ id, body }) => [id, body]));
    const texts = operations.map(({ body }) => stripIgnoredCharacters(body));
    this.texts = new Set([...this.bodies.values(), ...texts, ...ownOperations]);
  }

  /**
   * The text of the operation that a request names by id; undefined if the request is to run as it is.
   * @throws PERSISTED_QUERY_NOT_IN_LIST
   */
  textOf({ query, extensions }: OperationParams): string | undefined {
    if (typeof query === "string" && query !== "") {
      if (this.isOnly && !this.includes(query)) throw notInList("The document is not in the list");
      return undefined;
    }
    const id = idOf(extensions);
    const body = id === undefined ? undefined : this.bodies.get(id);
    if (id !== undefined && body === undefined && this.isOnly)
      throw notInList(`The id ${JSON.stringify(id)} is not in the list`);
    return body;
  }

  private includes(text: string): boolean {
    return this.texts.has(text) || (isDocument(text) && this.texts.has(stripIgnoredCharacters(text)));
  }
}

const notInList = (reason: string) =>
  new DomainError(
    "PERSISTED_QUERY_NOT_IN_LIST",
    `${reason} of persisted operations, and this server runs no others.`,
  );

function idOf(extensions: unknown): string | undefined {
  const { persistedQuery } = Object(extensions) as { persistedQuery?: unknown };
  const { sha256Hash } = Object(persistedQuery) as { sha256Hash?: unknown };
  return typeof sha256Hash === "string" ? sha256Hash : undefined;
}

function isDocument(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
