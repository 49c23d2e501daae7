/** The text of a GraphQL operation that fits the schema, with the types of its result and its variables. */
export type TypedDocument<Result, Variables> = string & {
  /** Known to the compiler only; of the same name in TypedDocumentNode. */
  readonly __apiType?: ((variables: Variables) => Result) | undefined;
};
