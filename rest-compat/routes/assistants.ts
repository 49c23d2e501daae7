import { group } from "../route";
import { PAGE_META } from "./page-meta";

const ASSISTANT = "{ id name description template variables }";

export const assistants = group("Assistants", "keyOrBearer", [
  {
    id: "createAssistant",
    post: "/rest/v1/assistants",
    omit: ["key", "projectId"],
    summary: "Create an assistant",
    document: `mutation CreateAssistant($input: CreateAssistantInput!) { result: createAssistant(input: $input) ${ASSISTANT} }`,
  },
  {
    id: "listAssistants",
    get: "/rest/v1/assistants",
    summary: "List assistants",
    document: `query Assistants($order: SortOrder, $page: Int, $take: Int) {
      result: assistants(order: $order, page: $page, take: $take) { data ${ASSISTANT} meta ${PAGE_META} } }`,
  },
  {
    id: "listTemplates",
    get: "/rest/v1/assistants/templates",
    summary: "List templates",
    document: `query AssistantTemplates($order: SortOrder, $page: Int, $take: Int) {
      result: assistantTemplates(order: $order, page: $page, take: $take) { data ${ASSISTANT} meta ${PAGE_META} } }`,
  },
  {
    id: "getAssistant",
    get: "/rest/v1/assistants/:id",
    summary: "Get an assistant or template",
    document: `query Assistant($id: ID!) { result: assistant(id: $id) ${ASSISTANT} }`,
  },
  {
    id: "updateAssistant",
    patch: "/rest/v1/assistants/:id",
    omit: ["key", "projectId"],
    summary: "Update an assistant",
    document: `mutation UpdateAssistant($id: ID!, $input: UpdateAssistantInput!) { result: updateAssistant(id: $id, input: $input) ${ASSISTANT} }`,
  },
  {
    id: "deleteAssistant",
    delete: "/rest/v1/assistants/:id",
    summary: "Delete an assistant and end its live chats",
    document: `mutation DeleteAssistant($id: ID!) { result: deleteAssistant(id: $id) { id } }`,
  },
  {
    id: "duplicateAssistant",
    post: "/rest/v1/assistants/duplicate/:id",
    summary: "Duplicate an assistant or template with its configurations",
    document: `mutation DuplicateAssistant($id: ID!) { result: duplicateAssistant(id: $id) ${ASSISTANT} }`,
  },
]);
