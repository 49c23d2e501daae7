import { getNamedType, isObjectType, type GraphQLField, type GraphQLFieldResolver } from "graphql";
import { digestOf, operationOf, type RecordTable } from "../../src/account/audit/note";
import type { Scope } from "../../src/platform/database/scope";
import { fieldsOf, isPersonal } from "./audited-fields";
import type { Context } from "./context";

type Args = Readonly<Record<string, unknown>>;

/** Recording of an operation in the audit log, if it differs from the defaults. */
export interface AuditRow {
  /** Type of the record. Default: the type of the result; for a result `Deleted`, the name of the operation without `delete`. */
  readonly record?: string;
  /**
   * Path of the argument that holds the record's id, or several paths; the first one with a value is used.
   * Default: `id` or `assistantId`, else the result's id.
   */
  readonly id?: string | readonly string[];
  /** Table whose first new row is the record. */
  readonly creates?: RecordTable;
  /** Discloses a secret and changes nothing. */
  readonly discloses?: true;
  /**
   * When the entry is stored. `transaction` (default): with the operation, which runs in one transaction. `service`:
   * with the first transaction of the service, for an operation that must not hold one throughout because it waits for
   * others or acts after its commit, or with the one statement of its change, which needs no transaction. `after`: after success, for an operation that changes nothing in this database.
   */
  readonly stored?: "transaction" | "service" | "after";
  /** Whether these arguments change nothing, so that no entry is stored. Default: they always change something. */
  readonly unless?: (args: Args) => boolean;
}

const CHAT = { record: "Chat", stored: "service" } as const satisfies AuditRow;
const NEW_CALL = { record: "Call", creates: "chats", stored: "service" } as const satisfies AuditRow;
const PERSON = ["uniqueId", "userId", "anonymousId", "phoneNumber"] as const;
const ORGANIZATION = { record: "Organization", discloses: true } as const satisfies AuditRow;

/** Mutations that are recorded differently from the defaults, and queries that disclose secrets. */
export const AUDIT: Readonly<Record<string, AuditRow>> = {
  createAssistant: { creates: "assistants", stored: "service" },
  createAssistantFromDocument: { creates: "assistants" },
  duplicateAssistant: { creates: "assistants" },
  updateVoiceConfiguration: { stored: "service" },
  updateSmsConfiguration: { stored: "service" },
  updateChatConfiguration: { stored: "service" },
  updateThemeConfiguration: { stored: "service" },
  describeAssistantVersion: { record: "Assistant" },
  saveAssistantDraft: { record: "Assistant" },
  startChat: { creates: "chats", stored: "service" },
  postMessage: { ...CHAT, id: "input.aiChatId" },
  startWidgetSession: {
    record: "WidgetSession",
    id: ["input.assistantId", "input.deploymentId"],
    discloses: true,
    stored: "after",
  },
  startWidgetChat: { ...CHAT, creates: "chats" },
  postWidgetMessage: { ...CHAT, id: "input.chatId" },
  updateWidgetChat: { record: "Chat", id: "input.chatId" },
  endWidgetChat: { record: "Chat" },
  startWidgetCall: NEW_CALL,
  placeAssistantCall: NEW_CALL,
  placeWorkflowCall: NEW_CALL,
  startWebCall: NEW_CALL,
  updateOrganization: { record: "Organization" },
  issueToken: { ...ORGANIZATION, stored: "after" },
  issueAnalyticsToken: { ...ORGANIZATION, stored: "after" },
  generateWebhookSecret: { ...ORGANIZATION, stored: "after" },
  identitySecret: ORGANIZATION,
  updateKey: { stored: "service" },
  deleteKey: { stored: "service" },
  redeliver: { id: "deliveryId" },
  replayEvents: {
    record: "WebhookDestination",
    id: "input.destinationId",
    stored: "service",
    unless: (args) => (args.input as { dryRun?: boolean | null }).dryRun !== false,
  },
  testWebhookDestination: { record: "WebhookDestination" },
  sendSampleEvents: { record: "WebhookDestination" },
  setModelCredential: { id: "input.provider" },
  setModelMapping: { record: "ModelMapping", id: "input.model" },
  testModel: { record: "ModelMapping", id: "input.model", stored: "after" },
  testFunction: { record: "Assistant", stored: "after" },
  testToolServer: { record: "Assistant", stored: "after" },
  forgetEndUser: { record: "EndUser", id: PERSON },
  exportEndUser: { record: "EndUser", id: PERSON },
  endUserExportDownload: { record: "EndUserExport", discloses: true, stored: "after" },
  deleteLog: { id: "id" },
  deleteLogs: { record: "ForgetReceipt", creates: "erasures", stored: "service" },
  updateRetention: { record: "Organization" },
  connectTelephony: { creates: "telephony_connections", stored: "service" },
  updateTelephonyConnection: { stored: "service" },
  disconnectTelephony: { record: "TelephonyConnection" },
  uploadFile: { creates: "files", stored: "service" },
  deleteFile: { stored: "service" },
  importAssistant: { id: "input.id" },
  importAssistantDraft: { record: "Assistant" },
  importAssistantVersions: { record: "Assistant" },
  importDeployment: { id: "input.id" },
  importEndUserFacts: { record: "EndUser", id: PERSON },
  importFile: { id: "input.id", stored: "service" },
  importKey: { id: "input.id" },
  importLogs: { record: "Assistant" },
  importProject: { id: "input.id" },
  importWebhookDestination: { id: "input.id" },
  importWorkflow: { id: "input.id" },
  fileDownload: { record: "File", discloses: true, stored: "after" },
};

type Resolve = GraphQLFieldResolver<unknown, Context>;

/**
 * Wraps an operation so that the audit log has an entry if and only if it has succeeded.
 * @throws Error for an operation whose record can't be identified
 */
export function audited(field: GraphQLField<unknown, Context>, resolve: Resolve): Resolve {
  const row = AUDIT[field.name] ?? {};
  const { stored = "transaction", unless } = row;
  const idOf = idReader(field, row);
  const createEntry = entryFactory(field, row);
  return (root, args: Args, context, info) => {
    if (unless?.(args)) return resolve(root, args, context, info);
    const operation = createEntry(args, context);
    operation.about(idOf(context.scope, args));
    const fresh = () => context.fresh().audited(operation);
    const work = async (scope: Scope) => {
      const result: unknown = await resolve(root, args, { ...context, scope, fresh }, info);
      if (stored !== "service") {
        operation.about(idOf(scope, args, result) ?? null);
        await scope.storeAudit();
      }
      if (operation.disclosure) context.disclosed.push(operation.disclosure);
      return result;
    };
    const scope = context.scope.audited(operation);
    return stored === "transaction" ? scope.transaction(work) : work(scope);
  };
}

/** Returns a function that creates the audit entry of an operation from its arguments, before it runs. */
function entryFactory(
  { name: operation, type, args: declared }: GraphQLField<unknown, Context>,
  row: AuditRow,
) {
  const result = getNamedType(type).name;
  const recordType = row.record ?? (result === "Deleted" ? operation.replace(/^delete/, "") : result);
  const kind = row.discloses ? "DISCLOSURE" : "CHANGE";
  const named = pathsOf(row);
  return (args: Args, { scope, caller, source }: Context) => {
    const fields = fieldsOf(scope, declared, args, named);
    return operationOf(scope, caller, source, { kind, operation, recordType, fields }, row.creates);
  };
}

/** Arguments that identify the record by default. */
const DEFAULT_ID_PATHS = ["id", "assistantId"];

const pathsOf = ({ id = DEFAULT_ID_PATHS, creates }: AuditRow): readonly string[] => {
  if (creates) return [];
  return typeof id === "string" ? [id] : id;
};

/** Creates a reader of the record's id: from the arguments, else from the result; a person's identifier as a digest. */
function idReader({ name, type, args: declared }: GraphQLField<unknown, Context>, row: AuditRow) {
  const paths = pathsOf(row);
  const result = getNamedType(type);
  const given = row.id !== undefined || declared.some((arg) => paths.includes(arg.name));
  const returned = isObjectType(result) && "id" in result.getFields();
  if (!row.creates && row.record !== "Organization" && !given && !returned)
    throw new Error(
      `The audit log can't identify the record of ${name}: add a row to AUDIT in schema/core/audit.ts.`,
    );
  return (scope: Scope, args: Args, made?: unknown): string | undefined => {
    if (row.record === "Organization") return scope.organizationId;
    for (const path of paths) {
      const id = at(args, path);
      if (typeof id === "string") return isPersonal(path) ? digestOf(scope, id) : id;
    }
    const id = returned ? (made as { id?: unknown } | undefined)?.id : undefined;
    return typeof id === "string" ? id : undefined;
  };
}

/** The value at a path of the arguments. */
export const at = (values: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (value as Args | null | undefined)?.[name], values);
