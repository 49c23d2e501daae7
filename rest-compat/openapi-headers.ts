import { RETRIED } from "../src/http/errors/reported-errors";
import type { ErrorCode } from "../src/platform/errors";
import type { CompiledRoute } from "./compile";
import { exampleOf } from "./examples";
import type { JsonSchema } from "./json-schema";

interface Header extends JsonSchema {
  readonly description: string;
}

const text = (description: string, example: unknown): Header => ({
  description,
  schema: { type: "string" },
  example,
});

/** The response headers of the interface; responses refer to them. */
export const HEADERS = {
  "X-Request-Id": text("Id of the request; the server logs errors under it.", exampleOf("", "id")),
  "GraphQL-Operation": text("The GraphQL operation that the path maps to.", "CreateAssistant"),
  "GraphQL-Cost": {
    description:
      "Points that the request costs as a GraphQL operation: about one for each record that it may return. Absent if the request is refused before it is read.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  ETag: text(
    "Changes whenever the record does. Send it back as If-None-Match to get 304 while the record is the same, or as If-Match of a PATCH or DELETE to change only what you have read.",
    '"6d-8MmCvSsGTV0IRMLrQ8eM5tQzRXk"',
  ),
  Warning: text(
    "One warning for each part of the request that had no effect, and for each other surprise, such as a variable without a value. Absent without warnings.",
    '299 parley "The query parameter tke is unknown and was ignored. Did you mean take?"',
  ),
  Link: text(
    "The request that continues a search, with `rel=next`, if the search was limited because no index can answer it in time; Warning says to how many logs. Otherwise absent.",
    '</rest/v1/assistants/019b8d62-7a80-7a31-8c52-4be1f07d9a36/logs?search=zz&after=019b8d62-7a80-7-417--29194136-019b8d62-7a80-7a31-8c52-4be1f07d9a40>; rel="next"',
  ),
  "Idempotency-Replayed": text(
    "`true` if this is the stored response of the first request with the same Idempotency-Key; otherwise absent.",
    "true",
  ),
  "RateLimit-Policy": text(
    "Every limit that counts the request, with its requests (`q`) in a window of `w` seconds, in the order of RateLimit. Absent if no limit applies.",
    '"credential";q=100;w=1, "organization";q=600;w=1',
  ),
  RateLimit: text(
    "Requests left of every limit (`r`) in the next `t` seconds, the smallest number first. Absent if no limit applies.",
    '"credential";r=99;t=1, "organization";r=599;t=1',
  ),
  "Retry-After": {
    description: "Seconds to wait before the request is repeated. A 409 has it for REQUEST_IN_PROGRESS only.",
    schema: { type: "integer", minimum: 1 },
    example: 2,
  },
  "WWW-Authenticate": text("The authentication scheme.", 'Bearer realm="parley"'),
} as const satisfies Readonly<Record<string, Header>>;

type HeaderName = keyof typeof HEADERS;

/** The headers of a route's response with a status. @param codes error codes; none for a success */
export function headersOf(
  { operation, method, success, tagged }: CompiledRoute,
  status: number,
  codes: readonly ErrorCode[] = [],
): { headers: JsonSchema } {
  const names: HeaderName[] = ["X-Request-Id", "Warning", "RateLimit-Policy", "RateLimit"];
  if (operation) names.push("GraphQL-Operation", "GraphQL-Cost");
  if (tagged && (status === success || status === 304)) names.push("ETag");
  if (operation?.variables.some(({ name }) => name === "after") && status === success) names.push("Link");
  if (operation && method === "post" && status === success) names.push("Idempotency-Replayed");
  if (codes.some((code) => RETRIED.includes(code))) names.push("Retry-After");
  if (status === 401) names.push("WWW-Authenticate");
  return {
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  };
}
