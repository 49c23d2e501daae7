import { PROBLEM_CODES, SEVERITIES } from "../../src/conversation/workflows/problems";
import { enumOf } from "../core/enums";

export const WorkflowNodeType = enumOf("WorkflowNodeType", "Type of a workflow node.", {
  START: "Start of the conversation; each workflow has one.",
  END: "End of the conversation, with a closing message if there is one.",
  PROMPT: "An assistant talks with the end user until an edge is taken.",
  ACTION: "A function of an assistant is called, then an edge is taken.",
  CONDITION: "An edge is taken at once, depending on the values of variables.",
});

export const WorkflowEdgeKind = enumOf("WorkflowEdgeKind", "Condition under which an edge is taken.", {
  DEFAULT:
    "Taken if no other edge of the node matches. From a PROMPT node: taken once its assistant has answered; the target node then gives the next answer.",
  MODEL: "Taken if the model chooses it by its description. Only from PROMPT nodes.",
  VARIABLE:
    "Taken if a variable compares to a value as the operator requires. From a PROMPT node: checked after each answer and whenever a function or the model has set variables.",
  FUNCTION: "Taken after a function has succeeded. Only from PROMPT and ACTION nodes.",
});

export const WorkflowOperator = enumOf(
  "WorkflowOperator",
  "Comparison of a variable with a value. Numbers are compared as numbers, texts case-insensitively.",
  {
    EQUALS: "The variable equals the value.",
    NOT_EQUALS: "The variable differs from the value or is not set.",
    CONTAINS: "The variable contains the value.",
    GREATER: "The variable is greater than the value.",
    LESS: "The variable is less than the value.",
    IS_SET: "The variable is set and not empty.",
    IS_NOT_SET: "The variable is not set, or it is empty.",
  },
);

export const WorkflowProblemCode = enumOf(
  "WorkflowProblemCode",
  "Kind of a problem of a workflow.",
  PROBLEM_CODES,
);

export const WorkflowProblemSeverity = enumOf(
  "WorkflowProblemSeverity",
  "Severity of a problem of a workflow.",
  SEVERITIES,
);

export const DeploymentType = enumOf("DeploymentType", "Type of a deployment.", {
  TEXT_IFRAME: "Text chats in an iframe of a web page.",
  TEXT_BUBBLE: "Text chats in a widget that a button of a web page opens.",
  VOICE_BUBBLE: "Calls in a widget that a button of a web page opens.",
  VOICE_IFRAME: "Calls in an iframe of a web page.",
  SMS: "SMS to and from a connected number.",
  PHONE_OUTBOUND: "Calls to telephones.",
  PHONE_INBOUND: "Inbound calls to a connected number.",
  API: "Conversations that a program starts through the API: text chats, SMS and calls to telephones.",
});
