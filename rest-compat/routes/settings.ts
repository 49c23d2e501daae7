import { group } from "../route";

const WEBHOOK = "{ id url name secret createdAt updatedAt }";
const CURRENT = `query WebhookDestination($id: ID!) { result: webhookDestination(id: $id) ${WEBHOOK} }`;
const nullable = ["name"] as const;

export const settings = group("Webhook settings", "settings", [
  {
    id: "regenerateWebhookSecret",
    get: "/rest/v1/settings/secret",
    success: 201,
    summary: "Generate a random webhook secret without storing it",
    document: `mutation GenerateWebhookSecret { result: generateWebhookSecret }`,
  },
  {
    id: "listWebhookSettings",
    get: "/rest/v1/settings",
    success: 201,
    summary: "List webhook destinations",
    nullable,
    document: `query WebhookDestinations { result: webhookDestinations ${WEBHOOK} }`,
  },
  {
    id: "createWebhookSettings",
    post: "/rest/v1/settings",
    success: 201,
    omit: ["key", "projectId"],
    hints: { enabled: "a new destination is enabled" },
    summary: "Create a webhook destination",
    nullable,
    document: `mutation CreateWebhookDestination($input: CreateWebhookDestinationInput!) { result: createWebhookDestination(input: $input) ${WEBHOOK} }`,
  },
  {
    id: "updateWebhookSettings",
    patch: "/rest/v1/settings/:id",
    omit: ["key", "projectId"],
    hints: { enabled: "every change of a destination enables it again" },
    summary: "Update a webhook destination",
    nullable,
    document: `mutation UpdateWebhookDestination($id: ID!, $input: UpdateWebhookDestinationInput!) {
      result: updateWebhookDestination(id: $id, input: $input) ${WEBHOOK} }`,
    current: CURRENT,
  },
  {
    id: "deleteWebhookSettings",
    delete: "/rest/v1/settings/:id",
    summary: "Delete a webhook destination and return it",
    nullable,
    document: `mutation DeleteWebhookDestination($id: ID!) { result: deleteWebhookDestination(id: $id) ${WEBHOOK} }`,
    current: CURRENT,
  },
]);
