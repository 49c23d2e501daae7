import { errorTable } from "../src/http/errors/error-reference";
import type { ErrorCode } from "../src/platform/errors";
import { EXAMPLE_URL } from "./examples";
import { HEADERS } from "./openapi-headers";

const RESPONSE_HEADERS = `\
## Response headers

<details>
<summary>Headers of responses</summary>

| Header | Meaning |
| --- | --- |
${Object.entries(HEADERS)
  .map(([name, { description }]) => `| \`${name}\` | ${description} |`)
  .join("\n")}

</details>`;

/** What a reader needs before the first request, as Markdown. */
export const introduction = (codes: ReadonlySet<ErrorCode>): string => `\
Each path maps to a GraphQL operation, named in the response header \`GraphQL-Operation\`. New clients should use \
GraphQL, which offers more.

[Get started with REST](/docs/start-rest) · [All documentation](/docs) · [GraphQL playground](/graphql) · \
[OpenAPI document](/rest/openapi.json)

## First steps

1. **Get a key.** The service prints a SECRET key on its first start; \`npm run key:create\` makes another.
2. **Authorize.** Programs send the key in the header \`X-API-Key\`. On this page, enter it at the top, or under \
**Authorize**, which also takes tokens.
3. **Send the first request.** Open [Create an assistant](#/Assistants/createAssistant) and press **Execute**, or use curl:

\`\`\`sh
curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" ${EXAMPLE_URL}/rest/v1/assistants \\
  -d '{"name": "Front desk"}'
\`\`\`

A POST may have an \`Idempotency-Key\`: repeated with the same key, it takes effect once.

## Errors

Every error has a \`message\` for people, a stable \`code\` for programs, \`details\` with the path of each invalid value, \
and the \`requestId\` under which the server logs it.

<details>
<summary>Error codes, with cause and remedy</summary>

${errorTable((code) => codes.has(code as ErrorCode))}

</details>

${RESPONSE_HEADERS}
`;
