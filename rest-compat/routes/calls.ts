import { group } from "../route";

const placeAssistantCall = `mutation PlaceAssistantCall($input: PlaceAssistantCallInput!) { result: placeAssistantCall(input: $input) { id } }`;
const startWebCall = `mutation StartWebCall($input: StartWebCallInput!) { result: startWebCall(input: $input) { webCallUrl } }`;

const BY_WORKFLOW = "call with a workflow or deployment by POST /rest/v2/call/phone";
const hints = { workflowId: BY_WORKFLOW, deploymentId: BY_WORKFLOW };

export const calls = group("Phone calls", "key", [
  {
    id: "callWithAssistant",
    post: "/rest/v1/call/phone",
    hints,
    summary: "Call a telephone number with an assistant",
    document: placeAssistantCall,
  },
  {
    id: "callWithWorkflow",
    post: "/rest/v2/call/phone",
    hints: {
      assistantId: "send workflowId or deploymentId, or call with an assistant by POST /rest/v1/call/phone",
    },
    summary: "Call a telephone number with a workflow or deployment",
    document: `mutation PlaceWorkflowCall($input: PlaceWorkflowCallInput!) { result: placeWorkflowCall(input: $input) { id } }`,
  },
  {
    id: "initiatePhoneCall",
    post: "/rest/v1/assistants/phone-calls/initiate",
    hints,
    summary: "Call a telephone number with an assistant (same as /rest/v1/call/phone)",
    document: placeAssistantCall,
  },
  // For browser SDKs of comparable services.
  {
    id: "callFromPage",
    post: "/rest/v1/call/web",
    extension: true,
    auth: "public",
    summary: "Start a call from a web page",
    document: startWebCall,
  },
  {
    id: "callFromPageV2",
    post: "/rest/v2/call/web",
    extension: true,
    auth: "public",
    summary: "Start a call from a web page with an assistant or workflow",
    document: startWebCall,
  },
]);
