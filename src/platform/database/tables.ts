/** Tables whose rows belong to an organization. They are accessible only through Scope. */
export type TenantTable =
  | "assistants"
  | "voice_configurations"
  | "sms_configurations"
  | "chat_configurations"
  | "theme_configurations"
  | "api_keys"
  | "webhook_destinations"
  | "files"
  | "chats"
  | "messages"
  | "idempotency_keys"
  | "idempotency_claims"
  | "projects"
  | "events"
  | "ledger_heads"
  | "deliveries"
  | "end_users"
  | "model_credentials"
  | "model_mappings"
  | "assistant_files"
  | "passages"
  | "passage_embeddings"
  | "calls"
  | "workflows"
  | "workflow_nodes"
  | "workflow_edges"
  | "deployments"
  | "engine_callbacks"
  | "telephony_connections"
  | "telephony_assistants"
  | "sms_contacts"
  | "sms_threads"
  | "sms_received"
  | "sms_sent"
  | "conversation_facts_kept"
  | "function_facts_kept"
  | "audit_outbox"
  | "audit_events"
  | "audit_heads"
  | "erasures"
  | "end_user_exports"
  | "provider_erasures"
  | "retentions"
  | "stored_sizes"
  | View;

/** Tables without an organization that services access through Scope. */
export type SharedTable =
  "templates" | "organizations" | "key_lookup" | "call_lookup" | "telephony_lookup" | "holds";

/** Views per organization with analytics of conversations. */
type View = "question_outcomes" | "conversation_facts" | "function_facts";
