import { readFileSync } from "node:fs";
import { buildSchema, isInputObjectType } from "graphql";
import templates from "../../src/assistants/configurations/templates.json";

/** Input types whose fields the organization itself sets, by table. */
const INPUTS: Readonly<Record<string, readonly string[]>> = {
  api_keys: ["CreateKeyInput"],
  assistants: ["CreateAssistantInput"],
  chat_configurations: ["UpdateChatConfigurationInput", "UpdateRagSettingsInput"],
  deployments: ["CreateDeploymentInput"],
  projects: ["CreateProjectInput"],
  sms_configurations: ["UpdateSmsConfigurationInput", "UpdateRagSettingsInput"],
  telephony_connections: ["ConnectTelephonyInput"],
  templates: ["CreateAssistantInput"],
  theme_configurations: ["UpdateThemeConfigurationInput"],
  voice_configurations: ["UpdateVoiceConfigurationInput", "UpdateRagSettingsInput"],
  webhook_destinations: ["CreateWebhookDestinationInput"],
  workflow_edges: ["CreateWorkflowEdgeInput"],
  workflow_nodes: ["CreateWorkflowNodeInput"],
  workflows: ["CreateWorkflowInput"],
};

const schema = buildSchema(readFileSync("schema/schema.graphql", "utf8"));

const fieldsOf = (input: string): string[] => {
  const type = schema.getType(input);
  if (!isInputObjectType(type)) throw new Error(`The schema has no input ${input}.`);
  return Object.keys(type.getFields());
};
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const configured = new Set([
  ...Object.entries(INPUTS).flatMap(([table, inputs]) =>
    inputs.flatMap(fieldsOf).map((name) => `${table}.${snake(name)}`),
  ),
  ...templates.flatMap((template) => Object.keys(template)).map((name) => `templates.${snake(name)}`),
]);

/** Whether an organization configures the column, or this service ships its values. */
export const isConfigured = (table: string, column: string): boolean => configured.has(`${table}.${column}`);

/**
 * Columns that can contain text, of tables without data about people. Before you add one, make sure that no words,
 * names, numbers or ids of people get into it, or that erasures remove them.
 */
export const UNTOUCHED: Readonly<Record<string, string>> = {
  // Columns besides those that the organization configures.
  api_keys: "id organization_id sealed_value",
  assistant_files: "assistant_id file_id organization_id problem status",
  assistant_drafts: "assistant_id content organization_id sealed_secrets",
  // The draft of an assistant; a row goes with the end of its chat.
  chat_drafts: "chat_id content organization_id sealed_secrets",
  chat_configurations: "assistant_id organization_id",
  function_secrets: "assistant_id organization_id sealed_secret slot",
  version_files: "assistant_id file_id organization_id",
  version_heads: "assistant_id content organization_id",
  version_texts: "assistant_id content digest organization_id",
  // Only ids; those of a conversation are removed as soon as nothing waits.
  delivery_queues: "chat_id claim delivery_id destination_id organization_id",
  // Counts by quarters of an hour.
  delivery_sums: "destination_id organization_id",
  delivery_sum_gaps: "organization_id",
  delivery_sum_heads: "organization_id",
  deployments: "id organization_id",
  key_lookup: "key_id lookup organization_id",
  model_credentials: "base_url id organization_id provider sealed_key",
  model_mappings: "base_url id model name organization_id provider sealed_key",
  organizations: "id model_failures name recount_facts_after sealed_erasure_key sealed_identity_secret",
  projects: "id organization_id",
  sms_configurations: "assistant_id organization_id",
  telephony_assistants: "assistant_id connection_id organization_id",
  telephony_connections: "id organization_id sealed_token",
  telephony_lookup: "connection_id organization_id phone_number",
  templates: "",
  theme_configurations: "allowed_origins assistant_id organization_id",
  voice_configurations: "assistant_id organization_id",
  webhook_destinations: "former_sealed_secret id organization_id sealed_secret",
  // Only ids, and beginnings of ids.
  write_positions: "organization_id",
  log_blocks: "assistant_id channel from_id organization_id",
  log_changes: "assistant_id channel chat_id organization_id",
  workflow_edges: "id organization_id workflow_id",
  workflow_nodes: "id organization_id workflow_id",
  workflows: "id organization_id",
  conversation_sums: "assistant_id channel organization_id unit",
  // Names of functions; those that no configuration contains are removed with the last conversation.
  function_sums: "assistant_id channel name organization_id",
  // State of the service. Payloads of jobs contain ids only; jobs with more are removed with the person.
  begun_jobs: "payload task worker",
  file_store: "id",
  // A claim exists for at most a minute.
  idempotency_claims: "claim key organization_id request_hash",
  ledger_heads: "organization_id",
  // The hold of a restored copy, in words of the service.
  holds: "id note reason",
  knex_migrations: "name",
  online_steps: "cursor name",
  sole_jobs: "name",
  stored_sizes: "organization_id walk",
  worker_heartbeats: "worker_id",
  retentions: "kind organization_id",
  // Data that providers are to delete; rows exist until they have.
  provider_erasures: "erasure_id id kind organization_id sealed_target",
  // Receipts, which contain the person in encrypted form until the erasure is done.
  erasures: "digest id organization_id sealed_target status subject",
};
