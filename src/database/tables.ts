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
  | "idempotency_keys";
