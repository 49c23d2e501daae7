import type { RawRequest } from "./refusals";

/** A request that a library in the path of /graphql refuses: its status, code and message. */
export type LibraryError = readonly [
  name: string,
  sent: RawRequest,
  status: number,
  code: string,
  text: string | RegExp,
];

const JSON_TYPE = { "Content-Type": "application/json" };
const query = (text: unknown, more: object = {}): RawRequest => ({ body: { query: text, ...more } });
const get = (search: string, headers: Record<string, string> = {}): RawRequest => ({
  method: "GET",
  path: search,
  headers,
});
const TYPENAME = encodeURIComponent("{ __typename }");
const inGet = (text: string) => get(`?query=${encodeURIComponent(text)}`);
const json = (body: unknown, headers: Record<string, string> = {}): RawRequest => ({
  body,
  headers: { ...JSON_TYPE, ...headers },
});

const NO_QUERY = "Send a JSON object with the key query, and the header Content-Type: application/json.";
const NO_OPERATION =
  "The request contains no operation: set query to a document, such as { organization { id } }.";
export const BATCH =
  "Batches are not supported: send one operation per request, as a JSON object and not a list.";
const ACCEPT = "The answer is JSON: send Accept: application/json, or omit the header.";
const POST_OR_GET = "Send GraphQL requests by POST, or queries by GET.";
const CSRF =
  /^Refused, because a page of another site could have sent it .*X-API-Key, Authorization or Apollo-Require-Preflight/;
const persisted = (persistedQuery: unknown) => ({ extensions: { persistedQuery } });

/** Errors of Apollo Server. */
const APOLLO: readonly LibraryError[] = [
  ["a GET without a query", get("", JSON_TYPE), 400, "BAD_REQUEST", NO_OPERATION],
  [
    "a body of another type",
    { body: "{}", headers: { "Content-Type": "text/plain" } },
    400,
    "BAD_REQUEST",
    NO_QUERY,
  ],
  [
    "a URL-encoded form",
    { body: "a=1", headers: { "Content-Type": "application/x-www-form-urlencoded" } },
    400,
    "BAD_REQUEST",
    NO_QUERY,
  ],
  ["a body without a type", { body: Buffer.from("{}") }, 400, "BAD_REQUEST", NO_QUERY],
  [
    "an unreadable content type",
    { body: "{}", headers: { "Content-Type": "application/json; x" } },
    400,
    "BAD_REQUEST",
    NO_QUERY,
  ],
  ["an empty body", json(""), 400, "BAD_REQUEST", NO_QUERY],
  ["an empty object", json({}), 400, "BAD_REQUEST", NO_QUERY],
  ["a list of operations", json([{ query: "{ __typename }" }]), 400, "BAD_REQUEST", BATCH],
  ["an empty list", json([]), 400, "BAD_REQUEST", BATCH],
  ["a parsed document", query({ kind: "Document" }), 400, "BAD_REQUEST", /^`query` must be a string/],
  ["a query that is a number", query(5), 400, "BAD_REQUEST", /^`query` must be a string/],
  ["a query that is null", query(null), 400, "BAD_REQUEST", NO_OPERATION],
  ["an empty query", query(""), 400, "BAD_REQUEST", NO_OPERATION],
  ["variables alone", json({ variables: {} }), 400, "BAD_REQUEST", NO_OPERATION],
  ...["variables", "extensions"].flatMap((name): LibraryError[] => [
    [
      `${name} as text`,
      query("{ __typename }", { [name]: "{}" }),
      400,
      "BAD_REQUEST",
      `\`${name}\` must be a JSON object, not a string that contains one.`,
    ],
    [
      `${name} as a number`,
      query("{ __typename }", { [name]: 5 }),
      400,
      "BAD_REQUEST",
      `\`${name}\` must be a JSON object.`,
    ],
    [
      `${name} that are no JSON in a GET`,
      get(`?query=${TYPENAME}&${name}={`),
      400,
      "BAD_REQUEST",
      `The query parameter ${name} must be a JSON object, percent-encoded.`,
    ],
    [
      `${name} that are no object in a GET`,
      get(`?query=${TYPENAME}&${name}=5`),
      400,
      "BAD_REQUEST",
      `The query parameter ${name} must be a JSON object, percent-encoded.`,
    ],
  ]),
  [
    "an operationName that is a number",
    query("{ __typename }", { operationName: 5 }),
    400,
    "BAD_REQUEST",
    "`operationName` must be a string.",
  ],
  ...["query", "variables", "extensions", "operationName"].map((name): LibraryError => [
    `the parameter ${name} twice`,
    get(`?query=${TYPENAME}&${name}=1&${name}=2`.replace("?query", name === "query" ? "?x" : "?query")),
    400,
    "BAD_REQUEST",
    `The query parameter ${name} must occur only once.`,
  ]),
  [
    "a GET with a content type",
    get(`?query=${TYPENAME}`, { "Content-Type": "text/plain" }),
    415,
    "BAD_REQUEST",
    "A GET request has no body: omit the header Content-Type.",
  ],
  ...["PUT", "PATCH", "DELETE"].map((method): LibraryError => [
    `the method ${method}`,
    { ...json({}), method },
    405,
    "BAD_REQUEST",
    POST_OR_GET,
  ]),
  [
    "a POST that accepts only HTML",
    { ...query("{ __typename }"), headers: { Accept: "text/html" } },
    406,
    "BAD_REQUEST",
    ACCEPT,
  ],
  [
    "a GET that accepts only images",
    get(`?query=${TYPENAME}`, { Accept: "image/png" }),
    406,
    "BAD_REQUEST",
    ACCEPT,
  ],
  // The words of the protocol, by which clients know to send the query.
  [
    "an unknown persisted query",
    json(persisted({ version: 1, sha256Hash: "abc" })),
    200,
    "PERSISTED_QUERY_NOT_FOUND",
    "PersistedQueryNotFound",
  ],
  [
    "a persisted query of another version",
    json(persisted({ version: 2, sha256Hash: "abc" })),
    400,
    "BAD_REQUEST",
    "`extensions.persistedQuery.version` must be 1.",
  ],
  [
    "a persisted query that is a number",
    json(persisted(5)),
    400,
    "BAD_REQUEST",
    "`extensions.persistedQuery.version` must be 1.",
  ],
  [
    "a wrong hash",
    query("{ __typename }", persisted({ version: 1, sha256Hash: "abc" })),
    400,
    "BAD_REQUEST",
    /^`extensions\.persistedQuery\.sha256Hash` must be the SHA-256/,
  ],
  [
    "a mutation by GET",
    inGet('mutation { deleteKey(id: "x") { id } }'),
    405,
    "BAD_REQUEST",
    "Send mutations by POST. GET runs only queries.",
  ],
  [
    "a subscription by GET",
    inGet("subscription { organizationEvents { id } }"),
    405,
    "BAD_REQUEST",
    /^Subscriptions need a WebSocket/,
  ],
];

/** Requests without a credential, which a page of another site could send. */
export const FORGED: readonly LibraryError[] = [
  ["a GET", get(`?query=${TYPENAME}`, { Accept: "application/json" }), 400, "BAD_REQUEST", CSRF],
  ["a POST of text", { body: "{}", headers: { "Content-Type": "text/plain" } }, 400, "BAD_REQUEST", CSRF],
];

/** Errors of the body parser. */
const BODIES: readonly LibraryError[] = [
  [
    "JSON with an error",
    json("{"),
    400,
    "BAD_USER_INPUT",
    /^the body must be a JSON object in UTF-8; it has an error at position 1$/,
  ],
  ...["5", "null", '"text"', '{"a": "\u0001"}', '{"a": nul}', '{"a": "'].map((body): LibraryError => [
    `the body ${body}`,
    json(body),
    400,
    "BAD_USER_INPUT",
    /^the body must be a JSON object in UTF-8/,
  ]),
  [
    "bytes that are not UTF-8",
    json(Uint8Array.from([0x7b, 0xff, 0x7d])),
    400,
    "BAD_USER_INPUT",
    /^the body must be a JSON object in UTF-8/,
  ],
  ...["latin1", "nonsense"].map((charset): LibraryError => [
    `the charset ${charset}`,
    { body: "{}", headers: { "Content-Type": `application/json; charset=${charset}` } },
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    /^Unsupported content type or encoding\. Send/,
  ]),
  [
    "an unknown encoding",
    json("{}", { "Content-Encoding": "nonsense" }),
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    /^Unsupported content type or encoding\. Send/,
  ],
  ...["gzip", "deflate", "br"].map((encoding): LibraryError => [
    `a body that is not ${encoding}`,
    json("{}", { "Content-Encoding": encoding }),
    400,
    "BAD_USER_INPUT",
    "the body must be compressed as Content-Encoding says",
  ]),
];

export const TRANSPORT_ERRORS: readonly LibraryError[] = [...APOLLO, ...BODIES];
