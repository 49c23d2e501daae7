import { Field, ID, InputType, Int } from "type-graphql";
import type { EdgeKind, NodeType, Operator } from "../../src/conversation/workflows/flow";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { WorkflowEdgeKind, WorkflowNodeType, WorkflowOperator } from "./enums";
import { withFields, type Fields } from "../core/with-fields";

type JsonObject = Record<string, unknown>;

const NAME = { minLength: 1, maxLength: 255 } as const;
const text = (maxLength: number) => ({ minLength: 1, maxLength });

@InputType({ description: "A new workflow; its nodes and edges are made one by one." })
export class CreateWorkflowInput {
  @Rule(NAME)
  @Field({ description: "What it is called, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "What it is for, at most 1 MiB." })
  description?: string | null;
  @Field(() => ID, { nullable: true, description: "The project it belongs to." })
  projectId?: string | null;
}

@InputType({
  description: "Changes to a workflow. What is left out stays; null clears the description or the project.",
})
export class UpdateWorkflowInput {
  @Rule({ ...NAME, nullable: false })
  @Field({ nullable: true, description: "What it is called, 1 to 255 characters." })
  name?: string;
  @Field(() => String, { nullable: true, description: "What it is for, at most 1 MiB." })
  description?: string | null;
  @Field(() => ID, { nullable: true, description: "The project it belongs to." })
  projectId?: string | null;
}

const NODE_FIELDS = {
  assistantId: [{}, "Of a PROMPT: who speaks. Of an ACTION: whose function is called.", () => ID],
  instructions: [
    text(100_000),
    "Of a PROMPT: what the assistant is to do here, behind its own prompt; may have {variables}. 1 to 100,000 characters.",
    () => String,
  ],
  functionName: [
    text(64),
    "Of an ACTION: the function, as a configuration of the assistant declares it. 1 to 64 characters.",
    () => String,
  ],
  arguments: [
    { nullable: false },
    "Of an ACTION: the arguments of the function. A text that is one {variable} alone becomes its value as it is.",
    () => JSONObject,
  ],
  resultVariable: [
    text(64),
    "Of an ACTION, and of functions that a PROMPT's assistant calls: the variable that keeps the reply; the fields of a reply that is an object become NAME.FIELD. 1 to 64 letters, digits, _ and .",
    () => String,
  ],
  message: [
    text(10_000),
    "Of an END: the last words; may have {variables}. 1 to 10,000 characters.",
    () => String,
  ],
  endReason: [
    text(255),
    "Of an END: becomes the endedReason of the chat; workflow-ended without it. 1 to 255 characters.",
    () => String,
  ],
  metadata: [
    { nullable: false },
    "Anything to keep with the node, such as its place on a canvas.",
    () => JSONObject,
  ],
} as const satisfies Fields;

/** The same for TypeScript. */
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
@InputType({ description: "A new node of a workflow." })
export class CreateWorkflowNodeInput extends NodeFields {
  @Field(() => WorkflowNodeType, { description: "What happens at it." })
  type!: NodeType;
  @Rule(NAME)
  @Field({ description: "What it is called, 1 to 255 characters; messages carry it." })
  name!: string;
}

@withFields(NODE_FIELDS)
@InputType({ description: "Changes to a node. What is left out stays; null clears what may be empty." })
export class UpdateWorkflowNodeInput extends NodeFields {
  @NotNull
  @Field(() => WorkflowNodeType, { nullable: true, description: "What happens at it." })
  type?: NodeType;
  @Rule({ ...NAME, nullable: false })
  @Field({ nullable: true, description: "What it is called, 1 to 255 characters; messages carry it." })
  name?: string;
}

const EDGE_FIELDS = {
  kind: [{ nullable: false }, "When it is taken; DEFAULT without it.", () => WorkflowEdgeKind],
  rank: [
    { nullable: false, minimum: -1_000_000, maximum: 1_000_000 },
    "Of the edges of one node the one with the lower rank is looked at first; a default edge comes last. 0 without it.",
    () => Int,
  ],
  description: [
    text(10_000),
    "Of a MODEL edge: when the model is to choose it; may have {variables}. 1 to 10,000 characters.",
    () => String,
  ],
  collects: [
    { nullable: false, maxItems: 20 },
    "Of a MODEL edge: variables whose values the model gives with its choice. At most 20 names.",
    () => [String],
  ],
  variable: [text(255), "Of a VARIABLE edge: the name of the variable.", () => String],
  operator: [{}, "Of a VARIABLE edge: how the variable is compared.", () => WorkflowOperator],
  value: [
    { maxLength: 10_000 },
    "Of a VARIABLE edge: what the variable is compared with; may have {variables}. At most 10,000 characters.",
    () => String,
  ],
  functionName: [text(64), "Of a FUNCTION edge: the function that has answered.", () => String],
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
@InputType({ description: "A new edge, from a node of a workflow to another one." })
export class CreateWorkflowEdgeInput extends EdgeFields {
  @Field(() => ID, { description: "The node that it leads away from." })
  fromNodeId!: string;
  @Field(() => ID, { description: "The node that it leads to." })
  toNodeId!: string;
}

@withFields(EDGE_FIELDS)
@InputType({ description: "Changes to an edge. What is left out stays; null clears what may be empty." })
export class UpdateWorkflowEdgeInput extends EdgeFields {
  @NotNull
  @Field(() => ID, { nullable: true, description: "The node that it leads away from." })
  fromNodeId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "The node that it leads to." })
  toNodeId?: string;
}
