/*
 * Libraries write their messages for the author of a server. A client's author gets these sentences instead. Messages of
 * graphql-js that name the place and the fault stay as they are, as people search for them.
 */

const ORDER = "the parts of the form must be in this order: operations, map, then the file";
const FORM = "Content-Type: multipart/form-data; boundary=…, which HTTP clients set themselves for a form";
const SPLIT = "Split it into several requests.";

/** Messages of libraries, and ours. `$1` is the part in parentheses. */
type Messages = readonly (readonly [RegExp, string])[];

/** Of Apollo Server, graphql-js, graphql-armor and the scalar of graphql-upload. */
const OF_DOCUMENTS: Messages = [
  [
    /^POST body missing/,
    "Send a JSON object with the key query, and the header Content-Type: application/json.",
  ],
  [
    /Cross-Site Request Forgery/,
    "Refused, because a page of another site could have sent it (Cross-Site Request Forgery): send the header X-API-Key, Authorization or Apollo-Require-Preflight, or a body with Content-Type: application/json.",
  ],
  [
    /^Operation batching disabled/,
    "Batches are not supported: send one operation per request, as a JSON object and not a list.",
  ],
  [
    /^GraphQL operations must contain a non-empty/,
    "The request contains no operation: set query to a document, such as { organization { id } }.",
  ],
  [/^GraphQL queries must be strings/, "`query` must be a string: the text of a GraphQL document."],
  [
    /^`(\w+)` in a POST body should be provided as an object/,
    "`$1` must be a JSON object, not a string that contains one.",
  ],
  [/^`(\w+)` in a POST body must be an object/, "`$1` must be a JSON object."],
  [/^`(\w+)` in a POST body must be a string/, "`$1` must be a string."],
  [/^The '(\w+)' search parameter may only/, "The query parameter $1 must occur only once."],
  [/^The (\w+) search parameter /, "The query parameter $1 must be a JSON object, percent-encoded."],
  [/^GET requests may not have a content-type/, "A GET request has no body: omit the header Content-Type."],
  [/^Apollo Server supports only GET/, "Send GraphQL requests by POST, or queries by GET."],
  [
    /^An 'accept' header was provided/,
    "The answer is JSON: send Accept: application/json, or omit the header.",
  ],
  [/^Unsupported persisted query version/, "`extensions.persistedQuery.version` must be 1."],
  [
    /^provided sha does not match/,
    "`extensions.persistedQuery.sha256Hash` must be the SHA-256 of query, in hexadecimal.",
  ],
  [
    /^GET requests only support query operations, not subscription/,
    "Subscriptions need a WebSocket with the protocol graphql-transport-ws on this path, or Accept: text/event-stream.",
  ],
  [/^GET requests only support query operations/, "Send mutations by POST. GET runs only queries."],
  [
    /Query depth limit of (\d+) exceeded, found (\d+)/,
    `The document is $2 levels deep; at most $1 are allowed. ${SPLIT}`,
  ],
  [
    /Aliases limit of (\d+) exceeded, found (\d+)/,
    `The document has $2 aliases; at most $1 are allowed. ${SPLIT}`,
  ],
  [
    /Directives limit of (\d+) exceeded, found (\d+)/,
    `The document has $2 directives; at most $1 are allowed. ${SPLIT}`,
  ],
  [
    /Document contains more that (\d+) tokens/,
    `The document has more than $1 tokens (names, values and signs). ${SPLIT}`,
  ],
  [
    /^GraphQL introspection is not allowed/,
    "Introspection is not allowed on this server (GRAPHQL_INTROSPECTION is off).",
  ],
  [
    /^Maximum introspection depth exceeded/,
    "The introspection query nests lists (fields, inputFields, interfaces) too deeply.",
  ],
  [
    /^Variable "\$(\w+)" of non-null type "Upload!" must not be null\./,
    'The variable $1 needs a file: in a form, the field map names the variable, such as {"0": ["variables.$1"]}.',
  ],
  [
    /Upload value invalid\./,
    "must be a file: send a form (multipart/form-data) that maps a file to this variable.",
  ],
  [
    /^Upload literal unsupported\./,
    "A file must be the value of a variable, in a form (multipart/form-data) that maps a file to it.",
  ],
  [/^(String cannot represent a non string value): /, "$1"],
  [/^Syntax Error: Expected (.*), found <EOF>\.$/, "Syntax Error: Expected $1, but the document ends."],
  [/^Syntax Error: Unexpected <EOF>\.$/, "Syntax Error: The document is empty, or ends too early."],
];

/** Of graphql-upload, busboy and body-parser. They describe the body, so ours continue an empty path. */
const OF_BODIES: Messages = [
  [/^Missing multipart field ‘(\w+)’/, `must be a form with the field $1; ${ORDER}`],
  [/^Misordered multipart fields/, ORDER],
  [/^Invalid JSON in the ‘(\w+)’/, "the form needs JSON in its field $1"],
  [/^Invalid type for the ‘operations’/, "the form needs a JSON object in its field operations"],
  [
    /^Invalid type for the ‘map’/,
    'the form needs lists of paths in its field map, such as {"0": ["variables.file"]}',
  ],
  [
    /^Invalid object path for the ‘map’ .* value ‘(.*?)’/,
    "the form maps a file to $1, which its operations do not contain: set it to null there",
  ],
  [/^File missing in the request/, "the form lacks the file that its field map names"],
  [/Boundary not found/, `the form has no boundary: send the header ${FORM}`],
  [
    /^Malformed content type|^Unsupported content type/,
    `the form has an unknown type: send the header ${FORM}`,
  ],
  [/^Unexpected end of (?:form|file)$/, "the form ends before its closing boundary"],
  [/Malformed part header/, "the form has a part without a readable Content-Disposition header"],
  [/^(request size did not match content length)/, "the body must have the length that Content-Length names"],
  [/^request aborted/, "the body must be sent completely"],
  [/ in JSON at position (\d+)/, "the body must be a JSON object in UTF-8; it has an error at position $1"],
  [/JSON|^Bad (escaped|control) character|^Unterminated string/, "the body must be a JSON object in UTF-8"],
];

/** Of graphql-ws: the reasons of closed sockets, which have at most 123 bytes. */
const OF_SOCKETS: Messages = [
  [
    /^Forbidden$/,
    "No valid credential: send X-API-Key, Authorization or another one in the payload of connection_init.",
  ],
  [/^Unauthorized$/, "Send connection_init first, and subscribe after connection_ack."],
  [/^Subprotocol not acceptable$/, "Connect with the WebSocket protocol graphql-transport-ws."],
  [/^Connection initialisation timeout$/, "Send connection_init within 10 seconds of connecting."],
  [/^Too many initialisation requests$/, "Send connection_init only once per connection."],
  [
    /^Subscriber for (.*) already exists$/,
    "A subscription with this id is open: use another id, or complete it first.",
  ],
  [
    /^Invalid message received$/,
    "Not a message of graphql-transport-ws: send JSON with a known type and its fields.",
  ],
];

const rewrite = (messages: Messages, message: string): string | undefined => {
  for (const [pattern, ours] of messages) {
    const found = pattern.exec(message);
    if (found) return ours.replaceAll(/\$(\d)/g, (_, group: string) => found[Number(group)]!);
  }
  return undefined;
};

/** The message of an error of a document as its client reads it. */
export const documentMessage = (message: string): string => rewrite(OF_DOCUMENTS, message) ?? message;

/** Why a body cannot be read; undefined for an unknown reason. */
export const bodyProblem = (message: string): string | undefined => rewrite(OF_BODIES, message);

/** Longest reason of a closed socket, in bytes (RFC 6455). */
const MAX_REASON_BYTES = 123;

/** The reason of a closed socket as its client reads it: the first sentences that fit. */
export function closeReason(reason: string): string {
  const [first = "", ...others] = (rewrite(OF_SOCKETS, reason) ?? reason).split(/(?<=\.) /);
  let fitting = first;
  for (const sentence of others) {
    if (Buffer.byteLength(`${fitting} ${sentence}`) > MAX_REASON_BYTES) break;
    fitting += ` ${sentence}`;
  }
  return fitting;
}
