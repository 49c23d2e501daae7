import { ArgsType, ID, InputType, Int } from "type-graphql";
import type { EdgeKind, NodeType, Operator } from "../../src/conversation/workflows/flow";
import type { JsonObject } from "../../src/platform/json/json-object";
import { ConnectionArgs } from "../core/connection";
import { Field } from "../core/decorators";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { WorkflowEdgeKind, WorkflowNodeType, WorkflowOperator } from "./enums";

const NAME = { minLength: 1, maxLength: 255 } as const;
const text = (maxLength: number) => ({ minLength: 1, maxLength });

@InputType({
  description:
    "Changes to a workflow. Omitted fields stay unchanged; null clears the description, the key or the project.",
})
export class UpdateWorkflowInput {
  @Rule({ ...NAME, nullable: false })
  @Field({ nullable: true, description: "Name, 1 to 255 characters." })
  name?: string;
  @Field(() => String, { nullable: true, description: "Purpose of the workflow, at most 1 MiB." })
  description?: string | null;
  @Rule({ minLength: 1, maxLength: 100, format: "key" })
  @Field(() => String, {
    nullable: true,
    description:
      "Key that identifies the workflow in files of the command `parley`, 1 to 100 characters: lowercase letters, digits, ., _ and -, beginning with a letter or digit. Unique among the organization's workflows: CONFLICT if another one has it.",
  })
  key?: string | null;
  @Field(() => ID, { nullable: true, description: "Id of its project." })
  projectId?: string | null;
}

@InputType({
  description: "New workflow. Add its nodes and edges with createWorkflowNode and createWorkflowEdge.",
})
export class CreateWorkflowInput extends UpdateWorkflowInput {
  @Rule(NAME)
  @Field({ description: "Name, 1 to 255 characters." })
  declare name: string;
}

@InputType({
  description: "Changes to a node. Omitted fields stay unchanged; null clears a field that may be empty.",
})
export class UpdateWorkflowNodeInput {
  @NotNull
  @Field(() => WorkflowNodeType, { nullable: true, description: "Type of the node." })
  type?: NodeType;
  @Rule({ ...NAME, nullable: false })
  @Field({
    nullable: true,
    description: "Name, 1 to 255 characters; the messages of the node include it in their metadata.",
  })
  name?: string;
  @Field(() => ID, {
    nullable: true,
    description: "Id of the assistant that speaks (PROMPT) or declares the function (ACTION).",
  })
  assistantId?: string | null;
  @Rule(text(100_000))
  @Field(() => String, {
    nullable: true,
    description:
      "For a PROMPT node, instructions added after the assistant's own prompt; may contain {variables}. 1 to 100,000 characters.",
  })
  instructions?: string | null;
  @Rule(text(64))
  @Field(() => String, {
    nullable: true,
    description:
      "For an ACTION node, name of the function in a configuration of the assistant. 1 to 64 characters.",
  })
  functionName?: string | null;
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description:
      "For an ACTION node, arguments of the function. Texts may contain {variables}; a text that consists of a single {variable} becomes its value, with its type.",
  })
  arguments?: JsonObject;
  @Rule(text(64))
  @Field(() => String, {
    nullable: true,
    description:
      "Name of the variable that stores the response of the function (ACTION) or of functions that the assistant calls (PROMPT). Fields of an object become NAME.FIELD. 1 to 64 letters, digits, _ and .",
  })
  resultVariable?: string | null;
  @Rule(text(10_000))
  @Field(() => String, {
    nullable: true,
    description: "For an END node, closing message; may contain {variables}. 1 to 10,000 characters.",
  })
  message?: string | null;
  @Rule(text(255))
  @Field(() => String, {
    nullable: true,
    description: "For an END node, endedReason of the chat, 1 to 255 characters. Default: workflow-ended.",
  })
  endReason?: string | null;
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description: "Metadata to store with the node, such as its position on a canvas.",
  })
  metadata?: JsonObject;
}

@InputType({ description: "New node of a workflow." })
export class CreateWorkflowNodeInput extends UpdateWorkflowNodeInput {
  @Field(() => WorkflowNodeType, { description: "Type of the node." })
  declare type: NodeType;
  @Rule(NAME)
  @Field({ description: "Name, 1 to 255 characters; the messages of the node include it in their metadata." })
  declare name: string;
}

@InputType({
  description: "Changes to an edge. Omitted fields stay unchanged; null clears a field that may be empty.",
})
export class UpdateWorkflowEdgeInput {
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the source node." })
  fromNodeId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the target node." })
  toNodeId?: string;
  @NotNull
  @Field(() => WorkflowEdgeKind, {
    nullable: true,
    description: "Condition under which the edge is taken. Default: DEFAULT.",
  })
  kind?: EdgeKind;
  @Rule({ nullable: false, minimum: -1_000_000, maximum: 1_000_000 })
  @Field(() => Int, {
    nullable: true,
    description:
      "Rank among the edges of the source node, -1,000,000 to 1,000,000; lower ranks are checked first, DEFAULT edges last. Default: 0.",
  })
  rank?: number;
  @Rule(text(10_000))
  @Field(() => String, {
    nullable: true,
    description:
      "For a MODEL edge, description of when the model should choose it; may contain {variables}. 1 to 10,000 characters.",
  })
  description?: string | null;
  @Rule({ nullable: false, maxItems: 20 })
  @Field(() => [String], {
    nullable: true,
    description:
      "For a MODEL edge, names of the variables whose values the model supplies with its choice; at most 20.",
  })
  collects?: string[];
  @Rule(text(255))
  @Field(() => String, {
    nullable: true,
    description: "For a VARIABLE edge, name of the variable, 1 to 255 characters.",
  })
  variable?: string | null;
  @Field(() => WorkflowOperator, {
    nullable: true,
    description: "For a VARIABLE edge, comparison of the variable with the value.",
  })
  operator?: Operator | null;
  @Rule({ maxLength: 10_000 })
  @Field(() => String, {
    nullable: true,
    description:
      "For a VARIABLE edge, value to compare the variable with; may contain {variables}. At most 10,000 characters.",
  })
  value?: string | null;
  @Rule(text(64))
  @Field(() => String, {
    nullable: true,
    description: "For a FUNCTION edge, name of the function that must have succeeded, 1 to 64 characters.",
  })
  functionName?: string | null;
}

@InputType({ description: "New edge from one node of a workflow to another." })
export class CreateWorkflowEdgeInput extends UpdateWorkflowEdgeInput {
  @Field(() => ID, { description: "Id of the source node." })
  declare fromNodeId: string;
  @Field(() => ID, { description: "Id of the target node." })
  declare toNodeId: string;
}

@ArgsType()
export class ProjectConnectionArgs extends ConnectionArgs {
  @Field(() => ID, { nullable: true, description: "Only those of this project. Default: all." })
  projectId?: string | null;
}
