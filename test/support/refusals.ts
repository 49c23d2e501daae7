import { expect } from "@jest/globals";

/** A request that is not an operation, or one that may not run. */
export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}
export type Refusal = readonly [
  name: string,
  sent: RawRequest,
  status: number,
  code: string,
  details?: readonly { readonly path: string; readonly message: unknown }[],
];

const query = (text: string, variables: object = {}, more: object = {}): RawRequest => ({
  body: { query: text, variables, ...more },
});
const part = (name: string, value: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const form = (body: string, type = "multipart/form-data; boundary=x"): RawRequest => ({
  body,
  headers: { "Content-Type": type, "Apollo-Require-Preflight": "true" },
});
const UPLOAD = JSON.stringify({
  query: "mutation ($file: Upload!) { uploadFile(file: $file) { id } }",
  variables: { file: null },
});
const ASSISTANTS = "assistants { data { id } }";
const said = (path: string, message: unknown = expect.any(String)) => [{ path, message }];

/** Requests that /graphql refuses, each with its status, its code and the named values. */
export const REFUSALS: readonly Refusal[] = [
  [
    "a form without a boundary",
    form(part("operations", "{}"), "multipart/form-data"),
    400,
    "BAD_USER_INPUT",
    said(""),
  ],
  ["a form that ends early", form(part("operations", UPLOAD)), 400, "BAD_USER_INPUT", said("")],
  ["an empty form", form(""), 400, "BAD_USER_INPUT", said("")],
  ["a form without operations", form(`${part("map", "{}")}--x--\r\n`), 400, "BAD_USER_INPUT", said("")],
  [
    "operations that are not JSON",
    form(`${part("operations", "{")}--x--\r\n`),
    400,
    "BAD_USER_INPUT",
    said(""),
  ],
  [
    "a map that is not an object",
    form(`${part("operations", UPLOAD)}${part("map", "[]")}--x--\r\n`),
    400,
    "BAD_USER_INPUT",
    said(""),
  ],
  [
    "a map to a path that does not exist",
    form(`${part("operations", UPLOAD)}${part("map", '{"0":["variables.file.a.b"]}')}--x--\r\n`),
    400,
    "BAD_USER_INPUT",
    said(""),
  ],
  [
    "a body that is no JSON",
    { body: "{", headers: { "Content-Type": "application/json" } },
    400,
    "BAD_USER_INPUT",
    said(""),
  ],
  ["a body without a query", { body: {} }, 400, "BAD_REQUEST"],
  ["a query that is no text", { body: { query: 5 } }, 400, "BAD_REQUEST"],
  [
    "variables that are no object",
    { body: { query: `{ ${ASSISTANTS} }`, variables: 5 } },
    400,
    "BAD_REQUEST",
  ],
  [
    "a change by GET",
    { method: "GET", path: `?query=${encodeURIComponent('mutation { deleteKey(id: "x") { id } }')}` },
    405,
    "BAD_REQUEST",
  ],
  ["a document that cannot be read", query("{ assistants {"), 400, "GRAPHQL_PARSE_FAILED"],
  ["an unknown field", query("{ nothing }"), 400, "GRAPHQL_VALIDATION_FAILED"],
  [
    "a wrong value in the document",
    query('mutation { createAssistant(input: { name: "Ada", variables: [1] }) { id } }'),
    400,
    "GRAPHQL_VALIDATION_FAILED",
    said("input.variables"),
  ],
  [
    "a document of fragments alone",
    query("fragment A on Query { __typename }"),
    400,
    "GRAPHQL_VALIDATION_FAILED",
  ],
  [
    "an operationName that the document lacks",
    query(`query A { ${ASSISTANTS} }`, {}, { operationName: "B" }),
    400,
    "BAD_USER_INPUT",
    said("operationName"),
  ],
  [
    "a variable of another type",
    query(`query ($page: Int) { assistants(page: $page) { data { id } } }`, { page: "one" }),
    400,
    "BAD_USER_INPUT",
    said("page", 'Int cannot represent non-integer value: "one"'),
  ],
  [
    "a variable that is missing",
    query("query ($id: ID!) { assistant(id: $id) { id } }"),
    400,
    "BAD_USER_INPUT",
    said("id", "is required"),
  ],
  [
    "null for a variable that takes none",
    query("query ($id: ID!) { assistant(id: $id) { id } }", { id: null }),
    400,
    "BAD_USER_INPUT",
    said("id", "must not be null"),
  ],
  [
    "a wrong value deep inside a variable",
    query("mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { id } }", {
      input: { name: "Ada", variables: [1] },
    }),
    400,
    "BAD_USER_INPUT",
    said("input.variables"),
  ],
  ...["skip", "include"].map((directive): Refusal => [
    `null for a variable with a default in @${directive}`,
    query(`query ($when: Boolean = true) { ${ASSISTANTS} organization @${directive}(if: $when) { id } }`, {
      when: null,
    }),
    400,
    "BAD_USER_INPUT",
    said("if"),
  ]),
  [
    "null for a variable with a default in a limit",
    query('query ($last: Int = 5) { chat(id: "x") { messages(last: $last) { id } } }', { last: null }),
    400,
    "BAD_USER_INPUT",
    said("last"),
  ],
  [
    "a value that breaks a rule of its field",
    query("{ assistants(take: 0) { data { id } } }"),
    200,
    "BAD_USER_INPUT",
    said("take", "must be from 1 to 100; got 0"),
  ],
  [
    "an operation that costs too much",
    query(
      "{ assistants(take: 100) { data { chats(first: 100) { nodes { messages(last: 100) { id } } } } } }",
    ),
    400,
    "COST_LIMIT",
  ],
  ["a subscription by POST", query("subscription { organizationEvents { id } }"), 400, "BAD_USER_INPUT"],
];
