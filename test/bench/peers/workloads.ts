import { FIELDS } from "../dashboard";
import type { Shot } from "./wrk";

/** Servers of the comparison: the limit, Express by hand, PostGraphile, Apollo by hand, and ours through both interfaces. */
export const SERVERS = ["l0", "l1", "postgraphile", "apollo", "rest", "graphql"] as const;
export type Name = (typeof SERVERS)[number];

export interface Workload {
  readonly what: string;
  readonly shots: Readonly<Partial<Record<Name, Shot>>>;
  /** Least share of requests per second of Express by hand. */
  readonly targets: Readonly<Partial<Record<"rest" | "graphql", number>>>;
}

const graphql = (query: string, variables: object = {}): Shot => ({
  method: "POST",
  path: "/graphql",
  body: JSON.stringify({ query, variables }),
});

/** A request of all REST servers, and one for both GraphQL servers with the same schema. */
const both = (shot: Shot, query: Shot): Workload["shots"] => ({
  l0: shot,
  l1: shot,
  rest: shot,
  apollo: query,
  graphql: query,
});

const ASSISTANT = "id name description template variables createdAt updatedAt";
const META = "meta { page take itemCount pageCount hasPreviousPage hasNextPage }";
const CHAT = "initialMessage prompt provider model temperature chatMode";
const CHANGES = { temperature: 0.4, prompt: "You are a receptionist. Be brief and kind." };
const NEW = { name: "Receptionist", description: "Answers the telephone of a dental practice." };

const DASHBOARD = graphql(
  `query Dashboard($take: Int) { assistants(take: $take) {
    data { ${FIELDS.assistant.join(" ")} voice { ${FIELDS.voice.join(" ")} } sms { ${FIELDS.sms.join(" ")} }
      chat { ${FIELDS.chat.join(" ")} } theme { ${FIELDS.theme.join(" ")} } logs(take: 5) { ${FIELDS.log.join(" ")} } }
    meta { itemCount } } }`,
  { take: 20 },
);

export const WORKLOADS: readonly Workload[] = [
  {
    what: "assistant by id",
    shots: both(
      { method: "GET", path: "/rest/v1/assistants/{id}" },
      graphql(`query One($id: ID!) { assistant(id: $id) { ${ASSISTANT} } }`, { id: "{id}" }),
    ),
    targets: { rest: 1, graphql: 0.65 },
  },
  {
    what: "page of 20 with count",
    shots: both(
      { method: "GET", path: "/rest/v1/assistants?page=2&take=20" },
      graphql(
        `query Page($page: Int, $take: Int) { assistants(page: $page, take: $take) { data { ${ASSISTANT} } ${META} } }`,
        { page: 2, take: 20 },
      ),
    ),
    targets: { rest: 1.05, graphql: 0.85 },
  },
  {
    what: "dashboard",
    shots: { l0: DASHBOARD, l1: DASHBOARD, apollo: DASHBOARD, graphql: DASHBOARD },
    targets: { graphql: 1.1 },
  },
  {
    what: "PATCH of a configuration",
    shots: both(
      { method: "PATCH", path: "/rest/v1/assistants/{id}/chat", body: JSON.stringify(CHANGES) },
      graphql(
        `mutation Change($id: ID!, $input: UpdateChatConfigurationInput!) {
          updateChatConfiguration(assistantId: $id, input: $input) { ${CHAT} } }`,
        { id: "{id}", input: CHANGES },
      ),
    ),
    targets: { rest: 0.9, graphql: 0.75 },
  },
  {
    what: "log search",
    shots: both(
      { method: "GET", path: "/rest/v1/assistants/{id}/logs?search=parcel" },
      graphql(
        `query Search($id: ID!, $search: String) { assistant(id: $id) { logs(take: 20, search: $search) { ${FIELDS.log.join(" ")} } } }`,
        { id: "{id}", search: "parcel" },
      ),
    ),
    targets: { rest: 1, graphql: 0.9 },
  },
  {
    what: "create with four configurations",
    shots: both(
      { method: "POST", path: "/rest/v1/assistants", body: JSON.stringify(NEW) },
      graphql(
        `mutation Create($input: CreateAssistantInput!) { createAssistant(input: $input) { ${ASSISTANT} } }`,
        {
          input: NEW,
        },
      ),
    ),
    targets: { rest: 1, graphql: 0.9 },
  },
];
