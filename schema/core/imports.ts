/** Operations that import records of another service. */
export const IMPORTS = [
  "importAssistant",
  "importAssistantDraft",
  "importAssistantVersions",
  "importDeployment",
  "importEndUserFacts",
  "importFile",
  "importKey",
  "importLogs",
  "importProject",
  "importWebhookDestination",
  "importWorkflow",
];
