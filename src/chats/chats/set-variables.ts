type Variables = Readonly<Record<string, unknown>>;

/** What of a chat says which of its variables functions and its workflow have set. */
export interface HasSetVariables {
  readonly workflowId: string | null;
  readonly variables: Variables;
  /** Null in chats that began before this was kept. */
  readonly setVariables: Variables | null;
}

/** The variables that functions and the workflow of a chat have set; in doubt all that a workflow's chat has. */
export const setIn = ({ workflowId, variables, setVariables }: HasSetVariables): Variables =>
  setVariables ?? (workflowId === null ? {} : variables);

/** Values from outside, overruled by those that were set. Who sets `order` sets all names below it, such as `order.id`. */
export const overruled = (outside: Variables, set: Variables): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(outside).filter(([name]) => !isWithin(name, set))),
  ...set,
});

function isWithin(name: string, set: Variables): boolean {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1))
    if (Object.hasOwn(set, name.slice(0, end))) return true;
  return false;
}
