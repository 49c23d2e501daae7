/** The text of a GraphQL operation that fits the schema, with the types of its result and its variables. */
export type TypedDocument<Result, Variables> = string & {
  /** Known to the compiler only. */
  readonly types: (variables: Variables) => Result;
};
