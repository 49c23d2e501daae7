type Value = Readonly<Record<string, unknown>>;

interface Resolved {
  readonly spec: unknown;
  readonly errors: readonly [];
}

const stepInto = (place: unknown, part: string): unknown => (place as Value | undefined)?.[part];

/** A copy of a value with references replaced. @param open references that contain the value: they stay as they are */
function dereferenced(value: unknown, document: Value, open: readonly string[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => dereferenced(item, document, open));
  const { $ref, ...others } = value as Value;
  const own = Object.entries(others).map(([name, part]) => [name, dereferenced(part, document, open)]);
  if (typeof $ref !== "string") return Object.fromEntries(own) as Value;
  if (open.includes($ref)) return value;
  const target = $ref.slice("#/".length).split("/").reduce(stepInto, document);
  const inner = dereferenced(target, document, [...open, $ref]) as Value;
  return { ...inner, $$ref: $ref, ...Object.fromEntries(own) }; // Swagger UI reads the name of a schema from $$ref
}

/**
 * Swagger UI plugin: resolves the references of an operation. Its own resolver parses the whole document for each
 * operation that is opened (swagger-ui issue 10748). All references of our document begin with `#/components/`.
 */
export const quickReferences = () => ({
  fn: {
    resolveSubtree: (document: Value, path: readonly string[]): Promise<Resolved> =>
      Promise.resolve({ spec: dereferenced(path.reduce(stepInto, document), document, []), errors: [] }),
  },
});
