import { ruleOf } from "../schema/core/rules";
import type { CompiledRoute } from "./compile";
import { exampleOf } from "./examples";
import { leaf, type JsonSchema } from "./json-schema";

const header = (name: string, description: string, schema: JsonSchema): JsonSchema => ({
  name,
  in: "header",
  required: false,
  description,
  schema,
});

const HEADERS = {
  key: header(
    "Idempotency-Key",
    "A request with the same key and body within 24 hours gets the same response and has no further effect. It gets 409 while the first one runs, and for at most 15 seconds after a crash of its server.",
    { type: "string", minLength: 1, maxLength: 255 },
  ),
  known: header(
    "If-None-Match",
    "The ETag of an earlier response. While the record is the same, the response is 304 without a body.",
    { type: "string" },
  ),
  expected: header(
    "If-Match",
    "The ETag of the record as you read it. If somebody has changed it since, the response is 412 and nothing changes. Without the header, the last change wins.",
    { type: "string" },
  ),
};

function headersFor({ operation, method, tagged, reader }: CompiledRoute): (keyof typeof HEADERS)[] {
  if (operation && method === "post") return ["key"];
  if (method === "get" && tagged) return ["known"];
  return reader ? ["expected"] : [];
}

/** The parameters of a route in its path, query and headers. */
export function parametersOf(route: CompiledRoute): { parameters?: readonly JsonSchema[] } {
  const { path, operation } = route;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const variables = operation?.variables.filter(({ from }) => from === "path" || from === "query") ?? [];
  const known = variables.map(({ name, type, from, argument }) => {
    const { nullable: _, ...rule } = ruleOf(argument);
    const { defaultValue, description } = argument;
    return {
      name,
      in: from,
      required: from === "path",
      ...(description && { description }),
      schema: { ...leaf(type), ...rule, ...(defaultValue !== undefined && { default: defaultValue }) },
      ...(exampleOf("", name) !== undefined && from === "path" && { example: exampleOf("", name) }),
    };
  });
  const others = inPath.filter((name) => !variables.some((variable) => variable.name === name));
  const parameters = [
    ...known,
    ...others.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...headersFor(route).map((name) => HEADERS[name]),
  ];
  return parameters.length > 0 ? { parameters } : {};
}
