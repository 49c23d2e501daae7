import type { Api } from "./api";
import { endChat, newChat, say } from "./factories";
import { upload } from "./files";
import { buildFlow } from "./flows";
import { newAccount } from "./twilio";
import { startSession, VisitorClient } from "./visitor";

/** The records that `buildSeveral` has made and no list finds. */
export interface Several {
  readonly assistantId: string;
  /** A project with several webhook destinations. */
  readonly projectId: string;
  readonly chatId: string;
  /** Session of a visitor with several chats. */
  readonly visitorToken: string;
}

const makes = async (api: Api, mutation: string, type: string, input: object): Promise<string> =>
  (await api.gql(`mutation ($input: ${type}!) { ${mutation}(input: $input) { id } }`, { input }))[mutation]
    .id;

const DRAFT =
  'mutation ($assistantId: ID!) { saveAssistantDraft(assistantId: $assistantId, input: { name: "Cyd", chat: { prompt: "{a} and {b}." } }) { basedOn } }';
const ATTACH =
  "mutation ($assistantId: ID!, $fileId: ID!) { attachFile(assistantId: $assistantId, fileId: $fileId) { id } }";

const NODE =
  "mutation ($workflowId: ID!, $input: CreateWorkflowNodeInput!) { createWorkflowNode(workflowId: $workflowId, input: $input) { id } }";

/**
 * Creates `count` records of each kind, all linked in the same way, so that reading one or several of them differs by
 * nothing but their number.
 */
export async function buildSeveral(api: Api, publicKey: string, count: number): Promise<Several> {
  const guest = await makes(api, "createAssistant", "CreateAssistantInput", { name: "Bea" });
  const { token: visitorToken } = await startSession(api.url, publicKey, { assistantId: guest });
  for (let index = 0; index < count; index++) await new VisitorClient(api.url, visitorToken).start();
  const made: { assistantId: string; projectId: string; chatId: string }[] = [];
  for (let index = 0; index < count; index++) made.push(await buildLinked(api, index, made[0]?.projectId));
  const { assistantId, projectId, chatId } = made[0]!;
  return { assistantId, projectId, chatId, visitorToken };
}

async function buildLinked(api: Api, index: number, first?: string) {
  const projectId = await makes(api, "createProject", "CreateProjectInput", { name: "Project" });
  const assistantId = await makes(api, "createAssistant", "CreateAssistantInput", { name: "Ada", projectId });
  const { id: fileId } = await upload(api);
  await api.gql(ATTACH, { assistantId, fileId });
  await api.gql(DRAFT, { assistantId });
  const line = { ...newAccount(), assistantIds: [assistantId] };
  const telephonyConnectionId = await makes(api, "connectTelephony", "ConnectTelephonyInput", line);
  const destination = {
    url: "https://example.com/events",
    secret: "shared",
    events: ["conversation-updated"],
  };
  for (const owner of new Set([projectId, first ?? projectId]))
    await makes(api, "createWebhookDestination", "CreateWebhookDestinationInput", {
      ...destination,
      projectId: owner,
    });
  const { workflowId } = await buildFlow(api, { assistantId, projectId });
  const deployment = { projectId, telephonyConnectionId };
  const deploymentId = await makes(api, "createDeployment", "CreateDeploymentInput", {
    ...deployment,
    type: "API",
    workflowId,
  });
  await makes(api, "createDeployment", "CreateDeploymentInput", { ...deployment, type: "SMS", assistantId });
  const call = { deploymentId, phoneNumber: "+12025550100" };
  const callId = await makes(api, "placeWorkflowCall", "PlaceWorkflowCallInput", call);
  await api.gql("mutation ($id: ID!) { cancelCall(id: $id) { id } }", { id: callId });
  await api.post("/rest/v1/organization/keys", { type: "PUBLIC" }, 200);
  await api.gql(
    `mutation { forgetEndUser(uniqueId: "nobody") { id } exportEndUser(uniqueId: "nobody") { id } }`,
  );
  const chatId = await newChat(api, assistantId, {
    assistantId: undefined,
    deploymentId,
    uniqueId: `person ${index}`,
  });
  await say(api, chatId, "Welcome.");
  await endChat(api, chatId);
  await api.gql(NODE, { workflowId, input: { type: "PROMPT", name: "No edge leads here", assistantId } });
  return { assistantId, projectId, chatId };
}
