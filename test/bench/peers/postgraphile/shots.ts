import { FIELDS } from "../../dashboard";
import type { Shot } from "../wrk";

/** The requests in PostGraphile's schema, which names the organization and the tables. @param organizationId of the caller */
export function postgraphileShots(organizationId: string): Readonly<Record<string, Shot>> {
  const graphql = (query: string, variables: object = {}): Shot => ({
    method: "POST",
    path: "/graphql",
    body: JSON.stringify({ query, variables: { o: organizationId, ...variables } }),
  });
  const assistant = "rowId name description variables createdAt updatedAt";
  const live = "condition: { organizationId: $o, deletedAt: null }";
  const fields = (list: readonly string[]) =>
    list.map((name) => (name === "id" ? "rowId" : name === "type" ? "channel" : name)).join(" ");
  const of = (channel: "voice" | "sms" | "chat" | "theme") =>
    `${channel}ConfigurationByOrganizationIdAndAssistantId { ${fields(FIELDS[channel])} }`;
  const configuration = (channel: string) =>
    `create${channel}Configuration(input: { ${channel.toLowerCase()}Configuration: { organizationId: $o, assistantId: $id } }) { clientMutationId }`;
  const audited = `createBenchAudit(input: { benchAudit: { organizationId: $o, rowId: $audit, entry: $entry } }) { clientMutationId }`;
  const entry = (operation: string) => ({ audit: "{new}", entry: { operation, actor: "SECRET" } });
  return {
    "assistant by id": graphql(
      `query One($o: String!, $id: String!) { assistantByOrganizationIdAndRowId(organizationId: $o, rowId: $id) { ${assistant} } }`,
      { id: "{id}" },
    ),
    "page of 20 with count": graphql(
      `query Page($o: String!, $first: Int, $offset: Int) { allAssistants(first: $first, offset: $offset, ${live}, orderBy: [CREATED_AT_DESC]) {
        nodes { ${assistant} } totalCount pageInfo { hasNextPage hasPreviousPage } } }`,
      { first: 20, offset: 20 },
    ),
    dashboard: graphql(
      `query Dashboard($o: String!, $first: Int) { allAssistants(first: $first, ${live}, orderBy: [CREATED_AT_DESC]) { totalCount nodes {
        ${fields(FIELDS.assistant)} ${of("voice")} ${of("sms")} ${of("chat")} ${of("theme")}
        chatsByOrganizationIdAndAssistantId(first: 5, orderBy: [STARTED_AT_DESC]) { nodes { rowId channel label startedAt } } } } }`,
      { first: 20 },
    ),
    "PATCH of a configuration": graphql(
      `mutation Change($o: String!, $id: String!, $patch: ChatConfigurationPatch!, $audit: String!, $entry: JSON!) {
        updateChatConfigurationByOrganizationIdAndAssistantId(input: { organizationId: $o, assistantId: $id, chatConfigurationPatch: $patch }) {
          chatConfiguration { ${fields(FIELDS.chat)} } }
        ${audited} }`,
      {
        id: "{id}",
        patch: { temperature: 0.4, prompt: "You are a receptionist. Be brief and kind." },
        ...entry("update"),
      },
    ),
    "create with four configurations": graphql(
      `mutation Create($o: String!, $id: String!, $name: String!, $description: String, $audit: String!, $entry: JSON!) {
        createAssistant(input: { assistant: { organizationId: $o, rowId: $id, name: $name, description: $description } }) { assistant { ${assistant} } }
        ${configuration("Voice")} ${configuration("Sms")} ${configuration("Chat")} ${configuration("Theme")} ${audited} }`,
      {
        id: "{new}",
        name: "Receptionist",
        description: "Answers the telephone of a dental practice.",
        ...entry("create"),
      },
    ),
  };
}
