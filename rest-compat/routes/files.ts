import { group } from "../route";
import { PAGE_META } from "./page-meta";

const FILE = "{ id name organizationId mimeType size metadata createdAt }";

export const files = group("Files", "key", [
  {
    id: "uploadFile",
    post: "/rest/v1/files/upload",
    success: 201,
    body: "multipart",
    summary: "Upload a file, with a JSON object in the form field `metadata`",
    notes:
      "To let an assistant answer from the file, attach it with the GraphQL mutation `attachFile`, then switch on the lookup with `updateRagSettings`; REST has no path for either. See [Knowledge](/docs/knowledge).",
    document: `mutation UploadFile($file: Upload!, $metadata: JSONObject) { result: uploadFile(file: $file, metadata: $metadata) ${FILE} }`,
  },
  {
    id: "listFiles",
    get: "/rest/v1/files",
    summary: "List files",
    document: `query Files($order: SortOrder, $page: Int, $take: Int) {
      result: files(order: $order, page: $page, take: $take) { data ${FILE} meta ${PAGE_META} } }`,
  },
  {
    id: "downloadFile",
    get: "/rest/v1/files/:id/download",
    summary: "Get a download link that needs no credential and expires after one hour",
    document: `query FileDownload($id: ID!) { result: fileDownload(id: $id) { url } }`,
  },
  {
    id: "deleteFile",
    delete: "/rest/v1/files/:id",
    summary: "Delete a file and its content",
    document: `mutation DeleteFile($id: ID!) { result: deleteFile(id: $id) { id } }`,
  },
]);
