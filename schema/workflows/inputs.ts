import { Field, ID, InputType, Int } from "type-graphql";
import type { EdgeKind, NodeType, Operator } from "../../src/conversation/workflows/flow";
import type { JsonObject } from "../../src/platform/json/json-object";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { WorkflowEdgeKind, WorkflowNodeType, WorkflowOperator } from "./enums";
import { withFields, type Fields } from "../core/with-fields";

const NAME = { minLength: 1, maxLength: 255 } as const;
const text = (maxLength: number) => ({ minLength: 1, maxLength });

@InputType({
  description: "New workflow. Add its nodes and edges with createWorkflowNode and createWorkflowEdge.",
})
export class CreateWorkflowInput {
  @Rule(NAME)
  @Field({ description: "Name, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "Purpose of the workflow, at most 1 MiB." })
  description?: string | null;
  @Field(() => ID, { nullable: true, description: "Id of its project." })
  projectId?: string | null;
}

@InputType({
  description:
    "Changes to a workflow. Omitted fields stay unchanged; null clears the description or the project.",
})
export class UpdateWorkflowInput {
  @Rule({ ...NAME, nullable: false })
  @Field({ nullable: true, description: "Name, 1 to 255 characters." })
  name?: string;
  @Field(() => String, { nullable: true, description: "Purpose of the workflow, at most 1 MiB." })
  description?: string | null;
  @Field(() => ID, { nullable: true, description: "Id of its project." })
  projectId?: string | null;
}

const NODE_FIELDS = {
  assistantId: [{}, "Id of the assistant that speaks (PROMPT) or declares the function (ACTION).", () => ID],
  instructions: [
    text(100_000),
    "For a PROMPT node, instructions added after the assistant's own prompt; may contain {variables}. 1 to 100,000 characters.",
    () => String,
  ],
  functionName: [
    text(64),
    "For an ACTION node, name of the function in a configuration of the assistant. 1 to 64 characters.",
    () => String,
  ],
  arguments: [
    { nullable: false },
    "For an ACTION node, arguments of the function. Texts may contain {variables}; a text that consists of a single {variable} becomes its value, with its type.",
    () => JSONObject,
  ],
  resultVariable: [
    text(64),
    "Name of the variable that stores the response of the function (ACTION) or of functions that the assistant calls (PROMPT). Fields of an object become NAME.FIELD. 1 to 64 letters, digits, _ and .",
    () => String,
  ],
  message: [
    text(10_000),
    "For an END node, closing message; may contain {variables}. 1 to 10,000 characters.",
    () => String,
  ],
  endReason: [
    text(255),
    "For an END node, endedReason of the chat, 1 to 255 characters. Default: workflow-ended.",
    () => String,
  ],
  metadata: [
    { nullable: false },
    "Metadata to store with the node, such as its position on a canvas.",
    () => JSONObject,
  ],
} as const satisfies Fields;

/** Types of the fields above: TypeScript does not see fields that a decorator adds. */
abstract class NodeFields {
  assistantId?: string | null;
  instructions?: string | null;
  functionName?: string | null;
  arguments?: JsonObject;
  resultVariable?: string | null;
  message?: string | null;
  endReason?: string | null;
  metadata?: JsonObject;
}

@withFields(NODE_FIELDS)
@InputType({ description: "New node of a workflow." })
export class CreateWorkflowNodeInput extends NodeFields {
  @Field(() => WorkflowNodeType, { description: "Type of the node." })
  type!: NodeType;
  @Rule(NAME)
  @Field({ description: "Name, 1 to 255 characters; the messages of the node include it in their metadata." })
  name!: string;
}

@withFields(NODE_FIELDS)
@InputType({
  description: "Changes to a node. Omitted fields stay unchanged; null clears a field that may be empty.",
})
export class UpdateWorkflowNodeInput extends NodeFields {
  @NotNull
  @Field(() => WorkflowNodeType, { nullable: true, description: "Type of the node." })
  type?: NodeType;
  @Rule({ ...NAME, nullable: false })
  @Field({
    nullable: true,
    description: "Name, 1 to 255 characters; the messages of the node include it in their metadata.",
  })
  name?: string;
}

const EDGE_FIELDS = {
  kind: [
    { nullable: false },
    "Condition under which the edge is taken. Default: DEFAULT.",
    () => WorkflowEdgeKind,
  ],
  rank: [
    { nullable: false, minimum: -1_000_000, maximum: 1_000_000 },
    "Rank among the edges of the source node, -1,000,000 to 1,000,000; lower ranks are checked first, DEFAULT edges last. Default: 0.",
    () => Int,
  ],
  description: [
    text(10_000),
    "For a MODEL edge, description of when the model should choose it; may contain {variables}. 1 to 10,000 characters.",
    () => String,
  ],
  collects: [
    { nullable: false, maxItems: 20 },
    "For a MODEL edge, names of the variables whose values the model supplies with its choice; at most 20.",
    () => [String],
  ],
  variable: [text(255), "For a VARIABLE edge, name of the variable, 1 to 255 characters.", () => String],
  operator: [{}, "For a VARIABLE edge, comparison of the variable with the value.", () => WorkflowOperator],
  value: [
    { maxLength: 10_000 },
    "For a VARIABLE edge, value to compare the variable with; may contain {variables}. At most 10,000 characters.",
    () => String,
  ],
  functionName: [
    text(64),
    "For a FUNCTION edge, name of the function that must have succeeded, 1 to 64 characters.",
    () => String,
  ],
} as const satisfies Fields;

abstract class EdgeFields {
  kind?: EdgeKind;
  rank?: number;
  description?: string | null;
  collects?: string[];
  variable?: string | null;
  operator?: Operator | null;
  value?: string | null;
  functionName?: string | null;
}

@withFields(EDGE_FIELDS)
@InputType({ description: "New edge from one node of a workflow to another." })
export class CreateWorkflowEdgeInput extends EdgeFields {
  @Field(() => ID, { description: "Id of the source node." })
  fromNodeId!: string;
  @Field(() => ID, { description: "Id of the target node." })
  toNodeId!: string;
}

@withFields(EDGE_FIELDS)
@InputType({
  description: "Changes to an edge. Omitted fields stay unchanged; null clears a field that may be empty.",
})
export class UpdateWorkflowEdgeInput extends EdgeFields {
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the source node." })
  fromNodeId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the target node." })
  toNodeId?: string;
}
