/**
 * Columns that can hold text, of the tables in which nothing of a person stands. Whoever adds one here has made sure
 * that no words, names, numbers or ids of people get into it, or that erasures remove them.
 */
export const UNTOUCHED: Readonly<Record<string, string>> = {
  // What an organization configures.
  api_keys: "assistant_ids id name organization_id permissions sealed_value status type",
  assistant_files: "assistant_id file_id organization_id problem status",
  assistants: "description id name organization_id project_id variables",
  chat_configurations:
    "assistant_id functions initial_message model organization_id prompt provider rag_trigger_topics resources",
  deployments: "assistant_id id organization_id project_id telephony_connection_id type workflow_id",
  key_lookup: "key_id lookup organization_id",
  model_credentials: "base_url id organization_id provider sealed_key",
  organizations: "id name sealed_erasure_key sealed_identity_secret",
  projects: "description id name organization_id",
  sms_configurations:
    "assistant_id functions initial_message keywords model organization_id prompt provider rag_trigger_topics resources",
  telephony_assistants: "assistant_id connection_id organization_id",
  telephony_connections: "account_sid id messaging_service_sid organization_id phone_number sealed_token",
  telephony_lookup: "connection_id organization_id phone_number",
  templates: "chat description id name sms theme variables voice",
  theme_configurations: "allowed_origins assistant_id mode organization_id theme",
  voice_configurations:
    "assistant_id background_sound end_call_message end_call_phrases functions initial_message model organization_id prompt provider rag_trigger_topics resources voice voice_provider",
  webhook_destinations: "former_sealed_secret id name organization_id project_id sealed_secret url",
  workflow_edges:
    "collects description from_node_id function_name id kind operator organization_id to_node_id value variable workflow_id",
  workflow_nodes:
    "arguments assistant_id end_reason function_name id instructions message metadata name organization_id result_variable type workflow_id",
  workflows: "description id name organization_id project_id",
  // How the service runs. Jobs are told ids only; those that are told more are removed with the person.
  begun_jobs: "payload task worker",
  file_store: "id",
  // A claim lives for a minute at most.
  idempotency_claims: "claim key organization_id request_hash",
  ledger_heads: "organization_id",
  // What a restored copy waits for, in words of the service.
  holds: "id note reason",
  knex_migrations: "name",
  sole_jobs: "name",
  stored_sizes: "organization_id walk",
  worker_heartbeats: "worker_id",
  retentions: "kind organization_id",
  // What providers are to delete: rows are there until they have.
  provider_erasures: "erasure_id id kind organization_id sealed_target",
  // Receipts: the person stands in one sealed, until the erasure is done.
  erasures: "digest id organization_id sealed_target status subject",
};
