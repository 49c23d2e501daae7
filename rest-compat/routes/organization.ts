import { group } from "../route";

const KEY = "{ id value type status }";

export const organization = group("Organization", "keyOrBearer", [
  {
    id: "getOrganization",
    get: "/rest/v1/organization",
    summary: "Get the organization of the credential",
    document: `query Organization { result: organization { id analyticUrl } }`,
  },
  {
    id: "issueToken",
    post: "/rest/v1/organization/token",
    summary: "Issue a short-lived bearer token",
    document: `mutation IssueToken($input: IssueTokenInput!) { result: issueToken(input: $input) { token expiresAt } }`,
  },
  {
    id: "listKeys",
    get: "/rest/v1/organization/keys",
    summary: "List keys",
    document: `query Keys { result: keys ${KEY} }`,
  },
  {
    id: "createKey",
    post: "/rest/v1/organization/keys",
    summary: "Create a key and return its full value",
    document: `mutation CreateKey($input: CreateKeyInput!) { result: createKey(input: $input) ${KEY} }`,
  },
  {
    id: "getPublicKey",
    get: "/rest/v1/organization/keys/public",
    summary: "Get the newest active PUBLIC key",
    document: `query PublicKey { result: publicKey ${KEY} }`,
  },
  {
    id: "getKey",
    get: "/rest/v1/organization/keys/:keyId",
    summary: "Get a key",
    document: `query Key($keyId: ID!) { result: key(id: $keyId) ${KEY} }`,
  },
  {
    id: "updateKey",
    patch: "/rest/v1/organization/keys/:keyId",
    summary: "Activate or deactivate a key",
    document: `mutation UpdateKey($keyId: ID!, $input: UpdateKeyInput!) { result: updateKey(id: $keyId, input: $input) ${KEY} }`,
  },
  {
    id: "deleteKey",
    delete: "/rest/v1/organization/keys/:keyId",
    summary: "Delete a key and revoke its tokens",
    document: `mutation DeleteKey($keyId: ID!) { result: deleteKey(id: $keyId) { id } }`,
  },
]);
