import { registerEnumType } from "type-graphql";
import { PROBLEM_CODES } from "../../src/conversation/workflows/problems";

/** An enumeration of which each value is its own name. */
function described(name: string, description: string, values: Readonly<Record<string, string>>) {
  const ids = Object.fromEntries(Object.keys(values).map((id) => [id, id]));
  const valuesConfig = Object.fromEntries(
    Object.entries(values).map(([id, description]) => [id, { description }]),
  );
  registerEnumType(ids, { name, description, valuesConfig });
  return ids;
}

export const WorkflowNodeType = described("WorkflowNodeType", "What happens at a node of a workflow.", {
  START: "Where a conversation begins; each workflow has one.",
  END: "Ends the conversation, with last words where it has any.",
  PROMPT: "An assistant talks with the person, until an edge leads on.",
  ACTION: "Calls a function of an assistant, and goes on.",
  CONDITION: "Goes on at once, by the values of variables.",
});

export const WorkflowEdgeKind = described("WorkflowEdgeKind", "When an edge is taken.", {
  DEFAULT:
    "Where no other edge of its node fits. Of a PROMPT: once its assistant has answered; the edge's target answers next.",
  MODEL: "When the model chooses it, by what its description says. Of a PROMPT alone.",
  VARIABLE:
    "When a variable has a value. Of a PROMPT it is looked at after an answer, and after a function or the model has set variables.",
  FUNCTION: "After a function has answered well. Of a PROMPT or an ACTION.",
});

export const WorkflowOperator = described(
  "WorkflowOperator",
  "How a variable is compared. Numbers are compared as numbers, texts in any case.",
  {
    EQUALS: "It is the value.",
    NOT_EQUALS: "It is something else, or not set.",
    CONTAINS: "The value stands in it.",
    GREATER: "It is more than the value.",
    LESS: "It is less than the value.",
    IS_SET: "It has a value that is not empty.",
    IS_NOT_SET: "It has no value, or an empty one.",
  },
);

export const WorkflowProblemCode = described(
  "WorkflowProblemCode",
  "What keeps a workflow from running.",
  PROBLEM_CODES,
);

export const DeploymentType = described("DeploymentType", "Where an assistant or a workflow is met.", {
  TEXT_IFRAME: "Text chats in a frame of a web page.",
  TEXT_BUBBLE: "Text chats behind a button of a web page.",
  VOICE_BUBBLE: "Calls from behind a button of a web page.",
  VOICE_IFRAME: "Calls from a frame of a web page.",
  SMS: "SMS to and from a connected number.",
  PHONE_OUTBOUND: "Calls to telephones.",
  PHONE_INBOUND: "Calls that come in at a connected number.",
  API: "Whatever a program starts: chats by text and SMS, and calls to telephones.",
});
