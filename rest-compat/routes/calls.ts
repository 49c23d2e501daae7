import { group } from "../route";

/** Known paths that answer 501 until the service places calls. */
export const calls = group("Phone calls", "key", [
  { id: "callWithAssistant", post: "/rest/v1/call/phone", summary: "Call a phone number with an assistant" },
  {
    id: "callWithWorkflow",
    post: "/rest/v2/call/phone",
    summary: "Call a phone number with a workflow or deployment",
  },
  {
    id: "initiatePhoneCall",
    post: "/rest/v1/assistants/phone-calls/initiate",
    summary: "Call a phone number with an assistant, under the path of the variables guide",
  },
]);
