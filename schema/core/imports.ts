/** Operations that import records of another service. */
export const IMPORTS = [
  ...["Assistant", "AssistantDraft", "AssistantVersions", "Deployment", "File", "Key", "Logs", "Project"],
  ...["WebhookDestination", "Workflow"],
].map((one) => `import${one}`);
