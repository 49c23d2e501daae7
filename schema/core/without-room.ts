const REMOVES = "removes or ends something";
const TELLS = "stores nothing of its own";
const KEEPS = "changes a value that is as large as before";

/** Mutations that an organization may use when it stores as much as it may, and why. */
export const WITHOUT_ROOM: Readonly<Record<string, string>> = {
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
  generateWebhookSecret: TELLS,
  identitySecret: TELLS,
  issueToken: TELLS,
  startWidgetSession: TELLS,
  testFunction: TELLS,
  testWebhookDestination: TELLS,
  updateKey: KEEPS,
  updateOrganization: KEEPS,
  updateRetention: KEEPS,
};
