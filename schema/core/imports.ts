/** Operations that import records of another service. */
export const IMPORTS = ["Assistant", "File", "Key", "Logs", "WebhookDestination"].map(
  (one) => `import${one}`,
);
