import { group } from "../route";

export const logs = group("Logs", "keyOrBearer", [
  {
    id: "listLogs",
    get: "/rest/v1/assistants/:assistantId/logs",
    summary: "List the logs of an assistant, as a plain array",
    notes:
      "A search that no index can serve, such as for one or two letters, is limited to the newest logs if it does not finish in time. The response then has the headers `Warning`, which tells their number, and `Link`, which continues the search.",
    document: `query Logs($assistantId: ID!, $order: SortOrder, $page: Int, $take: Int, $type: Channel, $search: String) {
      assistant(id: $assistantId) {
        result: logs(order: $order, page: $page, take: $take, type: $type, search: $search) { id type label createdAt }
      } }`,
  },
  {
    id: "getLog",
    get: "/rest/v1/assistants/:assistantId/log/:logId",
    summary: "Get a log of an assistant",
    document: `query Log($assistantId: ID!, $logId: ID!) {
      assistant(id: $assistantId) {
        result: log(id: $logId) { id type recordingUrl messages metadata customerMetadata createdAt }
      } }`,
  },
]);
