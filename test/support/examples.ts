import { Readable } from "node:stream";
import type { Route } from "../../rest-compat/route";
import type { RouteId } from "../../rest-compat/routes/index";
import type { Answer, Api } from "./api";
import { changesOf } from "./shapes";
import { form, type World } from "./world";

/** Contents of a request to a route. */
export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly form?: { readonly name: string; readonly content: string; readonly metadata: object };
}

const PAGE = { order: "asc", page: "1", take: "5" };

const FREE = { metadata: { campaign: 7 }, variables: { name: "Bea" } };
const CALLEE = {
  phoneNumber: "+41445550100",
  userName: "Bea",
  userId: "bea",
  externalId: "e-1",
  anonymousId: "a-1",
  ...FREE,
};

const ofAssistant = ({ assistantId }: World) => ({ params: { assistantId } });
const assistant = ({ assistantId: id }: World) => ({ params: { id } });
const key = ({ keyId }: World) => ({ params: { keyId } });
const file = ({ fileId: id }: World) => ({ params: { id } });
const destination = ({ destinationId: id }: World) => ({ params: { id } });

/** A valid request for every route, with a value for every parameter and field. */
export const examples = {
  createAssistant: () => ({
    body: { name: "Bea", description: "new", variables: { city: "Bern" }, missingVariables: "BLANK" },
  }),
  listAssistants: () => ({ query: PAGE }),
  listTemplates: () => ({ query: PAGE }),
  getAssistant: assistant,
  updateAssistant: (world) => ({
    ...assistant(world),
    body: { name: "Cleo", description: null, variables: { a: 1 } },
  }),
  deleteAssistant: assistant,
  duplicateAssistant: assistant,

  getVoiceConfiguration: ofAssistant,
  updateVoiceConfiguration: (world) => ({ ...ofAssistant(world), body: changesOf("voice") }),
  getSmsConfiguration: ofAssistant,
  updateSmsConfiguration: (world) => ({ ...ofAssistant(world), body: changesOf("sms") }),
  getChatConfiguration: ofAssistant,
  updateChatConfiguration: (world) => ({ ...ofAssistant(world), body: changesOf("chat") }),
  getThemeConfiguration: ofAssistant,
  updateThemeConfiguration: (world) => ({ ...ofAssistant(world), body: changesOf("theme") }),

  listLogs: (world) => ({ ...ofAssistant(world), query: { ...PAGE, type: "TEXT", search: "open" } }),
  getLog: ({ assistantId, logId }) => ({ params: { assistantId, logId } }),

  regenerateWebhookSecret: () => ({}),
  listWebhookSettings: () => ({}),
  createWebhookSettings: () => ({ body: { url: "https://example.com/all", secret: "signs", name: "all" } }),
  updateWebhookSettings: (world) => ({
    ...destination(world),
    body: { url: "https://example.com/changed", secret: "other", name: null },
  }),
  deleteWebhookSettings: destination,

  getOrganization: () => ({}),
  issueToken: () => ({ body: { userId: "customer-42", expiresIn: "15m" } }),
  listKeys: () => ({}),
  createKey: () => ({ body: { type: "PUBLIC", status: "INACTIVE" } }),
  getPublicKey: () => ({}),
  getKey: key,
  updateKey: (world) => ({ ...key(world), body: { status: "INACTIVE" } }),
  deleteKey: key,

  startChat: ({ assistantId }) => ({ body: { assistantId, uniqueId: "bea-7", userId: "Bea", ...FREE } }),
  getChat: ({ chatId: id }) => ({ params: { id }, query: { last: "5" } }),
  endChat: ({ chatId: id }) => ({ params: { id } }),
  postMessage: ({ chatId }) => ({
    query: { wait: "true" },
    body: {
      aiChatId: chatId,
      role: "SYSTEM",
      channel: "SMS",
      content: "Be brief.",
      metadata: { from: "test" },
    },
  }),

  uploadFile: () => ({ form: { name: "price list.txt", content: "1 apple: 2", metadata: { year: 2026 } } }),
  listFiles: () => ({ query: PAGE }),
  downloadFile: file,
  deleteFile: file,

  callWithAssistant: ({ assistantId }) => ({ body: { ...CALLEE, assistantId } }),
  callWithWorkflow: ({ workflowId }) => ({ body: { ...CALLEE, workflowId } }),
  initiatePhoneCall: ({ assistantId }) => ({ body: { ...CALLEE, assistantId } }),
  callFromPage: ({ assistantId }) => ({ body: { assistantId, externalId: "e-1", ...FREE } }),
  callFromPageV2: ({ assistantId }) => ({ body: { assistantId, externalId: "e-1", ...FREE } }),
  engineServerMessages: () => ({ body: { message: { type: "status-update" } } }),
  engineChatCompletions: () => ({ body: { model: "any", messages: [] } }),
  interceptSms: () => ({}),
  smsStatus: () => ({}),
} satisfies Record<RouteId, (world: World) => Call>;

/** Fields of which a body needs one, although each of them is optional. */
export const NEEDED: Readonly<Record<string, readonly string[]>> = {
  startChat: ["assistantId"],
  callWithWorkflow: ["workflowId"],
  callFromPage: ["assistantId"],
  callFromPageV2: ["assistantId"],
};

/** The example of a route. */
export const exampleOf = (id: string): ((world: World) => Call) => {
  if (!(id in examples)) throw new Error(`test/support/examples.ts has no example for the row ${id}`);
  return examples[id as RouteId];
};

/** The path of a route with its parameters filled in. */
export const pathOf = ({ path }: Pick<Route, "path">, { params = {}, query }: Call = {}): string =>
  path
    .replace("<voice_engine>", "vapi")
    .replace("<telephony_provider>", "twilio")
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? "some-id")) +
  (query ? `?${new URLSearchParams(query).toString()}` : "");

/** Sends a request to a route. */
export function send(
  api: Api,
  route: Pick<Route, "method" | "path">,
  call: Call,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const body = call.form ? form(call.form.name, call.form.content, { ...call.form.metadata }) : call.body;
  return api.request(route.method.toUpperCase(), pathOf(route, call), body, headers);
}

/** The file of a form, as graphql-upload passes it to resolvers. */
export const uploadOf = ({ name, content }: NonNullable<Call["form"]>) => ({
  filename: name,
  mimetype: "text/plain",
  encoding: "7bit",
  createReadStream: () => Readable.from([Buffer.from(content)]),
});
