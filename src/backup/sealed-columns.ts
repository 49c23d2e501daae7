/** A column that holds secrets under the encryption keys. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The columns that, with the organization, name a row. */
  readonly key: readonly string[];
  /** What a value is sealed for, behind the organization; `{column}` stands for a value of the row. */
  readonly context: string;
  /** How values are found, where they are: the table of keyed digests, and what stands before the digest there. */
  readonly found?: { readonly table: string; readonly by: string; readonly prefix: string };
}

const ofRow = (table: string, column: string, key = "id", named = key): SealedColumn => ({
  table,
  column,
  key: [key],
  context: `${table}/{${named}}`,
});

/** Every one of them; a test compares them with the schema. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    ...ofRow("api_keys", "sealed_value"),
    found: { table: "key_lookup", by: "key_id", prefix: "" },
  },
  ofRow("webhook_destinations", "sealed_secret"),
  ofRow("webhook_destinations", "former_sealed_secret"),
  ofRow("model_credentials", "sealed_key", "id", "provider"),
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
