import type { RouteId } from "../../rest-compat/routes/index";

/** A field of GraphQL with its arguments, each by the name of the REST parameter with its value; `body` is the whole body. */
type Level = readonly [field: string, args: Readonly<Record<string, string>>];

/** Kinds of credentials that a difference may be about. */
export type Credential =
  | "none"
  | "unknown key"
  | "PUBLIC key"
  | "token"
  | "token of a user"
  | "visitor's session"
  | "analytics token";

/** A rule of REST alone for a credential: it answers `status`, or another message with the same code. */
interface Own {
  readonly reason: string;
  readonly status?: number;
}

/** The operation of GraphQL that does the same as a REST row. */
export interface Counterpart {
  /** The root field, and the field below it whose value REST answers. */
  readonly levels: readonly Level[];
  /** Arguments of fields below the result. */
  readonly below?: Readonly<Record<string, Level[1]>>;
  /** Credentials that the REST contract treats in its own way. */
  readonly own?: Readonly<Partial<Record<Credential, Own>>>;
}

const PAGE = { order: "order", page: "page", take: "take" };
const BODY = { input: "body" };
const is = (field: string, args: Level[1] = {}, below: Counterpart["below"] = {}): Counterpart => ({
  levels: [[field, args]],
  below,
});
const ofAssistant = (field: string, args: Level[1] = {}): Counterpart => ({
  levels: [
    ["assistant", { id: "assistantId" }],
    [field, args],
  ],
});

const NAMED_HEADERS = { none: { reason: "the message names only the headers of this path" } };
const ofPage = (counterpart: Counterpart): Counterpart => ({ ...counterpart, own: NAMED_HEADERS });
const keyOnly = (counterpart: Counterpart): Counterpart => {
  const own = { reason: "the REST contract accepts only keys on this path, and answers 401", status: 401 };
  return {
    ...counterpart,
    own: {
      ...NAMED_HEADERS,
      ...{ token: own, "token of a user": own, "visitor's session": own, "analytics token": own },
    },
  };
};

/**
 * The operation of GraphQL for every REST row. Written from the documentation of both interfaces, never derived from
 * `rest-compat/`: a row with a wrong document must differ from this.
 */
export const COUNTERPARTS: Readonly<Record<RouteId, Counterpart | string>> = {
  createAssistant: is("createAssistant", BODY),
  listAssistants: is("assistants", PAGE),
  listTemplates: is("assistantTemplates", PAGE),
  getAssistant: is("assistant", { id: "id" }),
  updateAssistant: is("updateAssistant", { id: "id", ...BODY }),
  deleteAssistant: is("deleteAssistant", { id: "id" }),
  duplicateAssistant: is("duplicateAssistant", { id: "id" }),

  getVoiceConfiguration: ofAssistant("voice"),
  updateVoiceConfiguration: is("updateVoiceConfiguration", { assistantId: "assistantId", ...BODY }),
  getSmsConfiguration: ofAssistant("sms"),
  updateSmsConfiguration: is("updateSmsConfiguration", { assistantId: "assistantId", ...BODY }),
  getChatConfiguration: ofAssistant("chat"),
  updateChatConfiguration: is("updateChatConfiguration", { assistantId: "assistantId", ...BODY }),
  getThemeConfiguration: ofAssistant("theme"),
  updateThemeConfiguration: is("updateThemeConfiguration", { assistantId: "assistantId", ...BODY }),

  listLogs: ofAssistant("logs", { ...PAGE, type: "type", search: "search" }),
  getLog: ofAssistant("log", { id: "logId" }),

  regenerateWebhookSecret: is("generateWebhookSecret"),
  listWebhookSettings: is("webhookDestinations"),
  createWebhookSettings: is("createWebhookDestination", BODY),
  updateWebhookSettings: is("updateWebhookDestination", { id: "id", ...BODY }),
  deleteWebhookSettings: is("deleteWebhookDestination", { id: "id" }),

  getOrganization: is("organization"),
  issueToken: is("issueToken", BODY),
  listKeys: is("keys"),
  createKey: is("createKey", BODY),
  getPublicKey: is("publicKey"),
  getKey: is("key", { id: "keyId" }),
  updateKey: is("updateKey", { id: "keyId", ...BODY }),
  deleteKey: is("deleteKey", { id: "keyId" }),

  startChat: is("startChat", BODY),
  postMessage: is("postMessage", { ...BODY, withReply: "wait" }),
  getChat: is("chat", { id: "id" }, { messages: { last: "last", before: "before" } }),
  endChat: is("endChat", { id: "id" }),

  uploadFile: keyOnly(is("uploadFile", { file: "file", metadata: "metadata" })),
  listFiles: keyOnly(is("files", PAGE)),
  downloadFile: keyOnly(is("fileDownload", { id: "id" })),
  deleteFile: keyOnly(is("deleteFile", { id: "id" })),

  callWithAssistant: keyOnly(is("placeAssistantCall", BODY)),
  callWithWorkflow: keyOnly(is("placeWorkflowCall", BODY)),
  initiatePhoneCall: keyOnly(is("placeAssistantCall", BODY)),
  callFromPage: ofPage(is("startWebCall", BODY)),
  callFromPageV2: ofPage(is("startWebCall", BODY)),

  engineServerMessages: "a callback of the voice engine",
  engineChatCompletions: "a callback of the voice engine",
  interceptSms: "a callback of the telephony provider",
  smsStatus: "a callback of the telephony provider",
};

/** Fields that REST names differently, by type of GraphQL. */
export const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Message: { aiChatId: "chatId" },
};
