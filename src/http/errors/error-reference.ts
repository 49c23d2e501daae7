import type { ErrorCode } from "../../platform/errors";
import { STATUS } from "./error-body";

/** Cause of an error, and its remedy for the reader. */
type Explanation = readonly [cause: string, remedy: string];

const missingRecord = (what: string, list: string): Explanation => [
  `No ${what} with this id exists in the organization of the credential.`,
  `Copy the id from ${list}, and check that the credential belongs to the same organization.`,
];

/** Every error code of both interfaces. */
const EXPLANATIONS: Readonly<Record<ErrorCode, Explanation>> = {
  BAD_USER_INPUT: [
    "A value in the path, query, body or variables is missing, unknown or invalid.",
    "Correct the values that `details` lists by path.",
  ],
  ASSISTANT_NOT_FOUND: missingRecord("assistant", "`GET /rest/v1/assistants`"),
  WORKFLOW_NOT_FOUND: missingRecord("workflow", "the GraphQL query `workflows`"),
  DEPLOYMENT_NOT_FOUND: missingRecord("deployment", "the GraphQL query `deployments`"),
  PERSISTED_QUERY_NOT_IN_LIST: [
    "The server runs only the operations of its manifest (`GRAPHQL_PERSISTED=only`), and this is none of them.",
    "Add the operation to the manifest, and restart the server with it before the client is released.",
  ],
  UNAUTHENTICATED: [
    "The credential is missing, unknown, inactive or expired, or is a bearer token where only a key is accepted.",
    "The message says which. Send a key in `X-API-Key` or a token in `Authorization: Bearer`. If the message says that the operation accepts no bearer token, a new token does not help: send a SECRET key from your server. Another key makes a new one by `POST /rest/v1/organization/keys`; without one, `npm run key:create` does on the server.",
  ],
  FORBIDDEN: [
    "The credential is valid but may not do this: a PUBLIC key, a token with `userId`, or a key with limits.",
    "Use a SECRET key without limits, or one with the permission that the message names.",
  ],
  TEMPLATE_READ_ONLY: [
    "The assistant is a template, which all organizations share.",
    "Copy it with `POST /rest/v1/assistants/duplicate/{id}` and use the copy.",
  ],
  QUOTA_EXCEEDED: [
    "A quota of the organization is used up.",
    "Delete records that you no longer need, or let the operator raise the setting that the message names.",
  ],
  CHAT_NOT_FOUND: missingRecord("chat", "the response that started it"),
  LOG_NOT_FOUND: missingRecord("log", "`GET /rest/v1/assistants/{assistantId}/logs` of the same assistant"),
  KEY_NOT_FOUND: missingRecord("key", "`GET /rest/v1/organization/keys`"),
  WEBHOOK_DESTINATION_NOT_FOUND: missingRecord("webhook destination", "`GET /rest/v1/settings`"),
  EVENT_NOT_FOUND: [
    "No event with this id exists in the chat or organization, or its retention has ended.",
    "Pass the id of an event that you have received. To read a chat again from its beginning, pass the id of the chat; for other streams, continue without `after`.",
  ],
  DELIVERY_NOT_FOUND: missingRecord("delivery", "`deliveries` of the webhook destination"),
  PROJECT_NOT_FOUND: missingRecord("project", "the GraphQL query `projects`"),
  FUNCTION_NOT_FOUND: [
    "The configuration declares no function with this name, and no tool server of the assistant has such a tool.",
    "Check the name in `functions` of the channel's configuration.",
  ],
  TOOL_SERVER_NOT_FOUND: [
    "The assistant has no tool server with this name.",
    "Copy the name from `toolServers` of the assistant.",
  ],
  VERSION_NOT_FOUND: [
    "The assistant has no version with this number: it was never made, or it is older than those that are kept.",
    "Copy the number from `versions` of the assistant.",
  ],
  DRAFT_NOT_FOUND: [
    "The assistant has no draft: none was saved, or somebody has published or discarded it.",
    "Save one with `saveAssistantDraft`.",
  ],
  FILE_NOT_FOUND: missingRecord("file", "`GET /rest/v1/files`"),
  FILE_CONTENT_MISSING: [
    "The file is known, but its content is missing from the file storage.",
    "Restore the folder or bucket from a backup, or delete the file and upload it again.",
  ],
  CALL_NOT_FOUND: missingRecord("call", "the GraphQL query `calls`"),
  WORKFLOW_NODE_NOT_FOUND: missingRecord("node of this workflow", "`nodes` of the workflow"),
  WORKFLOW_EDGE_NOT_FOUND: missingRecord("edge", "`edges` of the workflow"),
  TELEPHONY_CONNECTION_NOT_FOUND: missingRecord(
    "telephony connection",
    "the GraphQL query `telephonyConnections`",
  ),
  ERASURE_NOT_FOUND: missingRecord("erasure", "the GraphQL query `erasures`"),
  EXPORT_NOT_FOUND: missingRecord("export", "the GraphQL query `endUserExports`"),
  NODE_NOT_FOUND: missingRecord("record", "an earlier response"),
  NOT_FOUND: ["The path does not exist.", "Compare it with the paths at `/rest/docs`."],
  METHOD_NOT_ALLOWED: ["The path does not support this method.", "Use a method of the header `Allow`."],
  CHAT_ENDED: ["The chat or call has ended.", "Start a new one."],
  CHAT_LIVE: ["The conversation is still live.", "End it first, or wait until it has ended."],
  CHANNEL_DISABLED: [
    "The channel is switched off for the assistant or deployment.",
    "Set `chatMode` or `smsMode` to true, change the mode of the theme, or enable the deployment.",
  ],
  WEBHOOK_DESTINATION_DISABLED: [
    "The webhook destination is disabled, because it answered 410 or has failed for five days.",
    "Enable it with any change of it, then repeat the request.",
  ],
  WORKFLOW_HAS_PROBLEMS: [
    "The workflow is incomplete, so it cannot run.",
    "Correct the nodes and edges that `details` lists.",
  ],
  MISSING_VARIABLES: [
    "The assistant refuses conversations without a value for each variable (`missingVariables` is REFUSE).",
    "Send the `variables` that `details` lists, or give the assistant values for them. `variables` of its version lists all; a web page learns only those of the greeting.",
  ],
  DEPLOYMENT_NOT_CALLABLE: [
    "The deployment is switched off, or its type cannot place calls.",
    "Enable it, or use a deployment of a type that the message names.",
  ],
  CONFLICT: [
    "The request conflicts with another record or with a request at the same time.",
    "Read the record again, then repeat the request.",
  ],
  VERSION_CONFLICT: [
    "Someone else has changed the assistant since the version that you named.",
    "Compare your draft with the current version (`assistantDiff`), then publish it with the number of that version.",
  ],
  REQUEST_IN_PROGRESS: [
    "The first request with this `Idempotency-Key` is still running, or its server has crashed within the last 15 seconds.",
    "Repeat the request after a few seconds.",
  ],
  PRECONDITION_FAILED: [
    "The record has another ETag than the header `If-Match` names: somebody has changed it since it was read, or the path has no ETag.",
    "Read the record again, apply your change to what it says now, and send it with the new ETag; without `If-Match` the last change wins.",
  ],
  PAYLOAD_TOO_LARGE: [
    "The body or the file is larger than the limit. The status is 431 if the request line and headers exceed 16 KiB.",
    "Send less; `MAX_FILE_BYTES` limits files, other bodies may have 8 MiB.",
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    "The body does not have the expected content type.",
    "Send `Content-Type: application/json`, or `multipart/form-data` for an upload.",
  ],
  IDEMPOTENCY_KEY_REUSED: [
    "This `Idempotency-Key` was used for a request with another path, query, body, document or variables.",
    "Use a new key for each new request.",
  ],
  RATE_LIMITED: [
    "The organization, address or visitor has sent too many requests.",
    "Wait for the number of seconds in `Retry-After`. The operator can raise the `RATE_LIMIT_*` settings.",
  ],
  INTERNAL: [
    "The server has met an unexpected error.",
    "Look for the `requestId` in the server's log, and report it.",
  ],
  NOT_IMPLEMENTED: ["The path is known but not served.", "Use the GraphQL operation of the same purpose."],
  UNAVAILABLE: [
    "The database, the file storage or the voice engine cannot be reached.",
    "Repeat the request after `Retry-After` seconds; `/health/ready` shows what is missing.",
  ],
  TIMEOUT: [
    "The request took too long and was canceled.",
    "Ask for less at once, or repeat the request after `Retry-After` seconds.",
  ],
  INSUFFICIENT_STORAGE: ["The server's storage is full.", "Free space on the server's disk."],
};

/** Codes that only `/graphql` uses, with their statuses. */
const GRAPHQL_ONLY: Readonly<Record<string, readonly [status: number, ...Explanation]>> = {
  BAD_REQUEST: [
    400,
    "The request is not a GraphQL request.",
    "Send JSON with `query`, and optionally `variables` and `operationName`.",
  ],
  GRAPHQL_PARSE_FAILED: [
    400,
    "The document is not valid GraphQL.",
    "Correct it at the position in `locations`.",
  ],
  GRAPHQL_VALIDATION_FAILED: [
    400,
    "The document does not match the schema, or is too deep or too long.",
    "Compare it with the schema in the playground, or split it.",
  ],
  COST_LIMIT: [
    400,
    "The document could return too many records.",
    "Ask for fewer records (`first`, `take`), or split the document.",
  ],
};

interface Row {
  readonly code: string;
  readonly status: number;
  readonly cause: string;
  readonly remedy: string;
}

const tableOf = (rows: readonly Row[]): string =>
  [
    "| Code | Status | Cause | Remedy |",
    "| --- | --- | --- | --- |",
    ...rows.map(({ code, status, cause, remedy }) => `| \`${code}\` | ${status} | ${cause} | ${remedy} |`),
  ].join("\n");

/** The error codes of both interfaces that `includes` accepts, as a Markdown table. */
export function errorTable(includes: (code: string) => boolean = () => true): string {
  const rows = Object.entries(EXPLANATIONS).map(([code, [cause, remedy]]) => ({
    code,
    status: STATUS[code as ErrorCode],
    cause,
    remedy,
  }));
  return tableOf(rows.filter(({ code }) => includes(code)));
}

/** The reference of error codes as a Markdown page, with the codes of configuration warnings and their meanings. */
export function errorReference(warnings: readonly (readonly [code: string, meaning: string])[]): string {
  const others = Object.entries(GRAPHQL_ONLY).map(([code, [status, cause, remedy]]) => ({
    code,
    status,
    cause,
    remedy,
  }));
  return [
    "# Error codes",
    "",
    "<!-- Generated from src/http/errors/error-reference.ts by npm run docs. -->",
    "",
    "An error has a stable `code`, a `message` for people, the `requestId` under which the server logs it, and `details` with the path of each invalid value. REST returns them in the body, with the status; GraphQL in `errors[].extensions`, with status 200 once an operation runs. If the same request can succeed later (`RATE_LIMITED`, `REQUEST_IN_PROGRESS`, `TIMEOUT`, `UNAVAILABLE`), both have the header `Retry-After` with the seconds to wait, GraphQL also with status 200.",
    "",
    errorTable(),
    "",
    "## Only in GraphQL",
    "",
    tableOf(others),
    "",
    "## Configuration warnings",
    "",
    "`configurationWarnings` of an assistant names values that were stored but do not work. A change of an assistant or a configuration names those among its own values: REST in the header `Warning`, GraphQL in [`extensions.warnings`](graphql-clients.md#warnings). Not so variables without a test value, because a conversation may bring the value; its start names those that have none.",
    "",
    "| Code | Meaning |",
    "| --- | --- |",
    ...warnings.map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
    "",
  ].join("\n");
}
