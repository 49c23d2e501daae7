type Variables = Readonly<Record<string, unknown>>;

/** Columns of a chat that distinguish variables set by functions and the workflow from those of clients. */
export interface VariableState {
  readonly workflowId: string | null;
  readonly variables: Variables;
  /** Null in chats of older versions. */
  readonly setVariables: Variables | null;
}

/** Variables that functions and the workflow have set. If unknown, all variables of a chat that runs a workflow. */
export const setVariablesOf = ({ workflowId, variables, setVariables }: VariableState): Variables =>
  setVariables ?? (workflowId === null ? {} : variables);

/** Variables of a client, overridden by those in `set`. Setting `order` also removes `order.id` and the like. */
export const mergeVariables = (outside: Variables, set: Variables): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(outside).filter(([name]) => !isWithin(name, set))),
  ...set,
});

function isWithin(name: string, set: Variables): boolean {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1))
    if (Object.hasOwn(set, name.slice(0, end))) return true;
  return false;
}
