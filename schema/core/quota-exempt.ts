const REMOVES = "removes or ends something";
const STORES_NOTHING = "stores nothing";
const KEEPS_SIZE = "changes a value without making it larger";

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
  disconnectTelephony: REMOVES,
  endChat: REMOVES,
  endWidgetChat: REMOVES,
  forgetEndUser: REMOVES,
  generateWebhookSecret: STORES_NOTHING,
  identitySecret: STORES_NOTHING,
  issueToken: STORES_NOTHING,
  startWidgetSession: STORES_NOTHING,
  testFunction: STORES_NOTHING,
  testModel: STORES_NOTHING,
  testWebhookDestination: STORES_NOTHING,
  updateKey: KEEPS_SIZE,
  updateOrganization: KEEPS_SIZE,
  updateRetention: KEEPS_SIZE,
};
