import { pathOf } from "../support/examples";
import { ASSISTANT, configurationOf, patchOf, type Fields } from "../support/shapes";

type ResponseShape = Fields | { readonly page: Fields } | { readonly list: Fields } | "string";

export interface Documented {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
  /** Whether a token with `userId` gets 403. */
  readonly refusesUsers: boolean;
  readonly status: number;
  /** Undefined if the document does not show it. */
  readonly answers?: ResponseShape;
  readonly takes?: Fields;
}

const WEBHOOK = { string: "id! url! name! secret! createdAt! updatedAt!" };
const KEY = { string: "id! value! type! status!" };
const FILE = {
  string: "id! name! organizationId! mimeType! createdAt!",
  number: "size!",
  object: "metadata!",
};
const LOG = {
  string: "id! type! recordingUrl! createdAt!",
  object: "messages! metadata! customerMetadata!",
};
const MESSAGE = { string: "id! aiChatId! role! channel! content createdAt!", object: "metadata!" };
const CHAT = {
  string: "id! assistantId! channel! status! label! phoneNumber startedAt! endedAt endedReason",
  object: "variables! metadata!",
};
const CALL = { string: "id!" };
const CALLEE = {
  string: "phoneNumber! userName userId externalId anonymousId",
  object: "metadata variables",
};
const WEB_CALL = { string: "webCallUrl!" };
const WEB_CALLEE = { string: "assistantId workflowId externalId", object: "metadata variables" };
const DELETED = { string: "id!" };

/** `METHOD path` of a row, its success status, the fields of its response and of its body. */
type Line = readonly [string, number, ResponseShape?, Fields?];
const section = (auth: string, lines: readonly Line[], refusesUsers = false): Documented[] =>
  lines.map(([line, status, answers, takes]) => {
    const [method, path] = line.split(" ") as [string, string];
    return { method, path, auth, refusesUsers, status, ...(answers && { answers }), ...(takes && { takes }) };
  });
/** Like `section`, for paths that refuse a token with `userId`. */
const forOrganization = (auth: string, lines: readonly Line[]) => section(auth, lines, true);

const V1 = "/rest/v1";

/** Handwritten copy of the Endpoints tables of the API document: the contract, without fields marked `x-extension`. */
export const DOCUMENTED: readonly Documented[] = [
  ...section("key or bearer", [
    [`POST ${V1}/assistants`, 200, ASSISTANT, { string: "name! description", object: "variables" }],
    [`GET ${V1}/assistants`, 200, { page: ASSISTANT }],
    [`GET ${V1}/assistants/templates`, 200, { page: ASSISTANT }],
    [`GET ${V1}/assistants/{id}`, 200, ASSISTANT],
    [`PATCH ${V1}/assistants/{id}`, 200, ASSISTANT, { string: "name description", object: "variables" }],
    [`DELETE ${V1}/assistants/{id}`, 200, DELETED],
    [`POST ${V1}/assistants/duplicate/{id}`, 200, ASSISTANT],
    [`GET ${V1}/assistants/{assistantId}/voice`, 200, configurationOf("voice")],
    [`PATCH ${V1}/assistants/{assistantId}/voice`, 200, configurationOf("voice"), patchOf("voice")],
    [`GET ${V1}/assistants/{assistantId}/sms`, 200, configurationOf("sms")],
    [`PATCH ${V1}/assistants/{assistantId}/sms`, 200, configurationOf("sms"), patchOf("sms")],
    [`GET ${V1}/assistants/{assistantId}/chat`, 200, configurationOf("chat")],
    [`PATCH ${V1}/assistants/{assistantId}/chat`, 200, configurationOf("chat"), patchOf("chat")],
    [`GET ${V1}/assistants/{assistantId}/theme`, 200, configurationOf("theme")],
    [`PATCH ${V1}/assistants/{assistantId}/theme`, 200, configurationOf("theme"), patchOf("theme")],
    [`GET ${V1}/assistants/{assistantId}/logs`, 200, { list: { string: "id! type! label! createdAt!" } }],
    [`GET ${V1}/assistants/{assistantId}/log/{logId}`, 200, LOG],
    [`GET ${V1}/organization`, 200, { string: "id! analyticUrl" }],
    [`GET ${V1}/organization/keys/public`, 200, KEY],
    [
      `POST ${V1}/ai-chats/messages`,
      201,
      MESSAGE,
      { string: "aiChatId! role! channel! content", object: "metadata!" },
    ],
  ]),
  ...forOrganization("key or bearer", [
    [`POST ${V1}/organization/token`, 200, { string: "token! expiresAt!" }, { string: "userId expiresIn" }],
    [`GET ${V1}/organization/keys`, 200, { list: KEY }],
    [`POST ${V1}/organization/keys`, 200, KEY, { string: "type status" }],
    [`GET ${V1}/organization/keys/{keyId}`, 200, KEY],
    [`PATCH ${V1}/organization/keys/{keyId}`, 200, KEY, { string: "status!" }],
    [`DELETE ${V1}/organization/keys/{keyId}`, 200, DELETED],
  ]),
  ...forOrganization("settings", [
    [`GET ${V1}/settings/secret`, 201, "string"],
    [`GET ${V1}/settings`, 201, { list: WEBHOOK }],
    [`POST ${V1}/settings`, 201, WEBHOOK, { string: "url! secret! name" }],
    [`PATCH ${V1}/settings/{id}`, 200, WEBHOOK, { string: "url secret name" }],
    [`DELETE ${V1}/settings/{id}`, 200, WEBHOOK],
  ]),
  ...section("key", [
    [`POST ${V1}/files/upload`, 201, FILE, { string: "file!", object: "metadata" }],
    [`GET ${V1}/files`, 200, { page: FILE }],
    [`GET ${V1}/files/{id}/download`, 200, { string: "url!" }],
    [`DELETE ${V1}/files/{id}`, 200, DELETED],
    [`POST ${V1}/call/phone`, 200, CALL, { ...CALLEE, string: `assistantId! ${CALLEE.string}` }],
    [
      "POST /rest/v2/call/phone",
      200,
      CALL,
      { ...CALLEE, string: `workflowId deploymentId ${CALLEE.string}` },
    ],
    [
      `POST ${V1}/assistants/phone-calls/initiate`,
      200,
      CALL,
      { ...CALLEE, string: `assistantId! ${CALLEE.string}` },
    ],
  ]),
  // Extensions, not in the document.
  ...forOrganization("key or bearer", [
    [
      `POST ${V1}/ai-chats`,
      201,
      { string: "id! greeting" },
      {
        string: "assistantId workflowId deploymentId userId uniqueId uniqueIdSignature",
        object: "variables metadata",
      },
    ],
    [`GET ${V1}/ai-chats/{id}`, 200, { ...CHAT, array: "messages!" }],
    [`POST ${V1}/ai-chats/{id}/end`, 200, CHAT],
  ]),
  ...section("public", [
    [`POST ${V1}/call/web`, 200, WEB_CALL, WEB_CALLEE],
    ["POST /rest/v2/call/web", 200, WEB_CALL, WEB_CALLEE],
  ]),
  ...section("none", [
    [`POST ${V1}/webhooks/vapi/server-messages`, 201],
    [`POST ${V1}/webhooks/vapi/custom-llm/chat/completions`, 201],
    ["POST /webhooks/twilio/intercept-sms", 200],
    ["POST /webhooks/twilio/sms-status", 200],
  ]),
];

/** `METHOD path` of a route, as the document writes it. */
export const lineOf = ({ method, path }: { method: string; path: string }): string =>
  `${method.toUpperCase()} ${pathOf({ path: path.replace(/:(\w+)/g, "{$1}") })}`;
