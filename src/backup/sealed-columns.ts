/** A column with secrets encrypted by the encryption keys. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** Key columns of a row besides the organization. */
  readonly key: readonly string[];
  /** The encryption context after the organization; `{column}` stands for a value of the row. */
  readonly context: string;
  /** If values are looked up by digest: the lookup table, its key column, and the prefix of its digests. */
  readonly found?: { readonly table: string; readonly by: string; readonly prefix: string };
}

const ofRow = (table: string, column: string, key = "id", named = key): SealedColumn => ({
  table,
  column,
  key: [key],
  context: `${table}/{${named}}`,
});

/** All sealed columns; a test compares them with the schema. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    ...ofRow("api_keys", "sealed_value"),
    found: { table: "key_lookup", by: "key_id", prefix: "" },
  },
  ofRow("assistants", "sealed_tool_headers"),
  {
    table: "function_secrets",
    column: "sealed_secret",
    key: ["assistant_id", "slot"],
    context: "function_secrets/{assistant_id}/{slot}",
  },
  ofRow("assistant_drafts", "sealed_secrets", "assistant_id"),
  ofRow("chat_drafts", "sealed_secrets", "chat_id"),
  ofRow("webhook_destinations", "sealed_secret"),
  ofRow("webhook_destinations", "former_sealed_secret"),
  ofRow("model_credentials", "sealed_key", "id", "provider"),
  ofRow("model_mappings", "sealed_key", "id", "model"),
  ofRow("telephony_connections", "sealed_token"),
  {
    ...ofRow("calls", "sealed_secret", "chat_id"),
    found: { table: "call_lookup", by: "chat_id", prefix: "secret:" },
  },
  ofRow("idempotency_keys", "sealed_body", "key"),
  ofRow("erasures", "sealed_target"),
  ofRow("end_user_exports", "sealed_target"),
  ofRow("provider_erasures", "sealed_target"),
  { table: "organizations", column: "sealed_erasure_key", key: [], context: "erasure" },
  { table: "organizations", column: "sealed_identity_secret", key: [], context: "identity" },
];
