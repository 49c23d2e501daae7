/** Operations that import records of another service. */
export const IMPORTS = [
  ...[
    "Assistant",
    "AssistantDraft",
    "AssistantVersions",
    "Deployment",
    "EndUserFacts",
    "File",
    "Key",
    "Logs",
  ],
  ...["Project", "WebhookDestination", "Workflow"],
].map((one) => `import${one}`);
