/** Tables whose rows belong to an organization. Scope is the only door to them. */
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

/** Tables of all organizations that services reach by Scope. */
export type SharedTable =
  "templates" | "organizations" | "key_lookup" | "call_lookup" | "telephony_lookup" | "holds";

/** Views over them, of the same organization: what was said in conversations, counted. */
type View = "question_outcomes" | "conversation_facts" | "function_facts";
