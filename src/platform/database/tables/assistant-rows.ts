import type { Knex } from "knex";
import type { TenantTable } from "./tables";

/** The column that names the assistant of a row. Tables without one hold records of the whole organization. */
const ASSISTANT: Readonly<Partial<Record<TenantTable, string>>> = {
  assistants: "id",
  voice_configurations: "assistantId",
  sms_configurations: "assistantId",
  chat_configurations: "assistantId",
  theme_configurations: "assistantId",
  chats: "assistantId",
  messages: "assistantId",
  events: "assistantId",
  end_users: "assistantId",
  assistant_files: "assistantId",
  question_outcomes: "assistantId",
  conversation_facts: "assistantId",
  function_facts: "assistantId",
  conversation_facts_kept: "assistantId",
  function_facts_kept: "assistantId",
  conversation_facts_summed: "assistantId",
  function_facts_summed: "assistantId",
  conversation_facts_current: "assistantId",
  conversation_facts_unsummed: "assistantId",
  function_facts_unsummed: "assistantId",
  conversation_sums: "assistantId",
  end_reason_sums: "assistantId",
  function_sums: "assistantId",
  log_blocks: "assistantId",
  log_changes: "assistantId",
  version_heads: "assistantId",
  assistant_versions: "assistantId",
  version_texts: "assistantId",
  function_secrets: "assistantId",
  assistant_drafts: "assistantId",
  version_files: "assistantId",
};

/** Tables whose records belong to the whole organization: a caller limited to assistants finds none of them. */
const SHARED: readonly TenantTable[] = [
  "projects",
  "workflows",
  "workflow_nodes",
  "workflow_edges",
  "deployments",
];

/** Restricts a query to the rows of some assistants. */
export function ofAssistants(rows: Knex.QueryBuilder, name: TenantTable, ids: Knex.Raw): Knex.QueryBuilder {
  if (SHARED.includes(name)) return rows.whereRaw("false");
  if (name === "calls" || name === "chat_drafts")
    return rows.whereRaw(
      `exists (select from chats as c where c.organization_id = ${name}.organization_id and c.id = ${name}.chat_id and c.assistant_id = any(?))`,
      [ids],
    );
  const column = ASSISTANT[name];
  return column === undefined ? rows : rows.whereRaw("?? = any(?)", [`${name}.${column}`, ids]);
}
