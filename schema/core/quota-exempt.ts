import type { StoredRecord } from "../../src/account/organization/quotas";

const REMOVES = "removes or ends something";
const STORES_NOTHING = "stores nothing";
const KEEPS_SIZE = "changes a value without making it larger";
const BOUNDED = "replaces values of limited length";

/** Place of the record that a mutation changes: its tables, their key, and the path of the argument with its id. */
export type Place = Omit<StoredRecord, "id"> & { readonly argument: string };
const byId = (table: StoredRecord["tables"][number], argument = "id"): Place => ({
  tables: [table],
  key: "id",
  argument,
});
const ofAssistant = (...tables: StoredRecord["tables"]): Place => ({
  tables,
  key: "assistantId",
  argument: "assistantId",
});

/** Mutations that replace values of a record: when the storage quota is used up, they may make it smaller. */
export const RESIZED: Readonly<Record<string, Place>> = {
  replaceWorkflowGraph: { tables: ["workflow_nodes", "workflow_edges"], key: "workflowId", argument: "id" },
  setModelCredential: { tables: ["model_credentials"], key: "provider", argument: "input.provider" },
  setModelMapping: { tables: ["model_mappings"], key: "model", argument: "input.model" },
  updateAllowedOrigins: ofAssistant("theme_configurations"),
  updateAssistant: byId("assistants"),
  updateToolServers: byId("assistants", "assistantId"),
  updateChatConfiguration: ofAssistant("chat_configurations"),
  updateProject: byId("projects"),
  updateRagSettings: ofAssistant("voice_configurations", "sms_configurations", "chat_configurations"),
  updateSmsConfiguration: ofAssistant("sms_configurations"),
  updateThemeConfiguration: ofAssistant("theme_configurations"),
  updateVoiceConfiguration: ofAssistant("voice_configurations"),
  updateWebhookDestination: byId("webhook_destinations"),
  updateWidgetChat: byId("chats", "input.chatId"),
  updateWorkflow: byId("workflows"),
  updateWorkflowEdge: byId("workflow_edges"),
  updateWorkflowNode: byId("workflow_nodes"),
};

/** Mutations that stay available when the storage quota is used up, with the reason. */
export const QUOTA_EXEMPT: Readonly<Record<string, string>> = {
  cancelCall: REMOVES,
  deleteAssistant: REMOVES,
  deleteDeployment: REMOVES,
  deleteFile: REMOVES,
  deleteKey: REMOVES,
  deleteLog: REMOVES,
  deleteLogs: REMOVES,
  deleteProject: REMOVES,
  deleteWebhookDestination: REMOVES,
  deleteWorkflow: REMOVES,
  deleteWorkflowEdge: REMOVES,
  deleteWorkflowNode: REMOVES,
  detachFile: REMOVES,
  describeAssistantVersion: BOUNDED,
  discardAssistantDraft: REMOVES,
  disconnectTelephony: REMOVES,
  endChat: REMOVES,
  endWidgetChat: REMOVES,
  forgetEndUser: REMOVES,
  generateWebhookSecret: STORES_NOTHING,
  identitySecret: STORES_NOTHING,
  issueToken: STORES_NOTHING,
  issueAnalyticsToken: STORES_NOTHING,
  startWidgetSession: STORES_NOTHING,
  testFunction: STORES_NOTHING,
  testToolServer: STORES_NOTHING,
  testModel: STORES_NOTHING,
  testWebhookDestination: STORES_NOTHING,
  sendSampleEvents: STORES_NOTHING,
  updateDeployment: BOUNDED,
  updateKey: KEEPS_SIZE,
  updateOrganization: KEEPS_SIZE,
  updateRetention: KEEPS_SIZE,
  updateTelephonyConnection: BOUNDED,
};
