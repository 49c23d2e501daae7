import { Arg, Ctx, ID, Int, ObjectType, Resolver } from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { toolNameOf } from "../../src/conversation/workflows/transitions";
import { WorkflowEdges } from "../../src/conversation/workflows/workflow-edges";
import { WorkflowNodes } from "../../src/conversation/workflows/workflow-nodes";
import { Workflows } from "../../src/conversation/workflows/workflows";
import type { JsonObject } from "../../src/platform/json/json-object";
import { Assistant, Deleted } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Root } from "../core/decorators";
import { JSONObject } from "../core/scalars";
import { WorkflowEdgeKind, WorkflowNodeType, WorkflowOperator } from "./enums";
import {
  CreateWorkflowEdgeInput,
  CreateWorkflowNodeInput,
  UpdateWorkflowEdgeInput,
  UpdateWorkflowNodeInput,
} from "./inputs";

@ObjectType({
  implements: Node,
  description: "Node of a workflow: a step of the conversation.",
  simpleResolvers: true,
})
export class WorkflowNode {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field(() => ID, { description: "Id of its workflow." })
  workflowId!: string;
  @Field(() => WorkflowNodeType, { description: "Type of the node." })
  type!: string;
  @Field({ description: "Name, which the messages of the node include in their metadata." })
  name!: string;
  @Field(() => String, {
    nullable: true,
    description: "For a PROMPT node, instructions added after the assistant's own prompt; null otherwise.",
  })
  instructions!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "For an ACTION node, name of the function to call; null otherwise.",
  })
  functionName!: string | null;
  @Field(() => JSONObject, { description: "For an ACTION node, arguments of the function." })
  arguments!: JsonObject;
  @Field(() => String, {
    nullable: true,
    description: "Name of the variable that stores a function's response; null if there is none.",
  })
  resultVariable!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "For an END node, closing message; null if there is none.",
  })
  message!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "For an END node, endedReason of the chat; if null, workflow-ended.",
  })
  endReason!: string | null;
  @Field(() => JSONObject, {
    description: "Metadata supplied with the node, such as its position on a canvas.",
  })
  metadata!: JsonObject;
  @Field({ description: "Creation time." })
  createdAt!: Date;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
  assistantId!: string | null;
}

@ObjectType({
  implements: Node,
  description: "Edge of a workflow: a transition from one node to another.",
  simpleResolvers: true,
})
export class WorkflowEdge {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field(() => ID, { description: "Id of its workflow." })
  workflowId!: string;
  @Field(() => ID, { description: "Id of the source node." })
  fromNodeId!: string;
  @Field(() => ID, { description: "Id of the target node." })
  toNodeId!: string;
  @Field(() => WorkflowEdgeKind, { description: "Condition under which the edge is taken." })
  kind!: string;
  @Field(() => Int, {
    description: "Rank among the edges of the source node; lower ranks are checked first.",
  })
  rank!: number;
  @Field(() => String, {
    nullable: true,
    description: "For a MODEL edge, description of when the model should choose it; null otherwise.",
  })
  description!: string | null;
  @Field(() => [String], {
    description: "For a MODEL edge, names of the variables whose values the model supplies with its choice.",
  })
  collects!: readonly string[];
  @Field(() => String, {
    nullable: true,
    description: "For a VARIABLE edge, name of the variable; null otherwise.",
  })
  variable!: string | null;
  @Field(() => WorkflowOperator, {
    nullable: true,
    description: "For a VARIABLE edge, comparison of the variable with the value; null otherwise.",
  })
  operator!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "For a VARIABLE edge, value to compare the variable with; null if there is none.",
  })
  value!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "For a FUNCTION edge, name of the function that must have succeeded; null otherwise.",
  })
  functionName!: string | null;
  @Field({ description: "Creation time." })
  createdAt!: Date;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
}

@Resolver(() => WorkflowNode)
export class WorkflowNodeResolver {
  @Mutation(() => WorkflowNode, {
    description:
      "Adds a node to a workflow; a workflow has at most 200 nodes. Errors: WORKFLOW_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  createWorkflowNode(
    @Arg("workflowId", () => ID, { description: "Id of the workflow." }) workflowId: string,
    @Arg("input", { description: "The new node." }) input: CreateWorkflowNodeInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowNodes).create(workflowId, input);
  }

  @Mutation(() => WorkflowNode, {
    description: "Updates a node. Errors: WORKFLOW_NODE_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  updateWorkflowNode(
    @Arg("id", () => ID, { description: "Id of the node." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateWorkflowNodeInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowNodes).update(id, input);
  }

  @Mutation(() => Deleted, {
    description: "Deletes a node with its incoming and outgoing edges. Errors: WORKFLOW_NODE_NOT_FOUND.",
  })
  deleteWorkflowNode(
    @Arg("id", () => ID, { description: "Id of the node." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowNodes).remove(id);
  }

  @FieldResolver(() => Assistant, {
    nullable: true,
    description:
      "Assistant that speaks (PROMPT) or declares the function (ACTION), even if it has been deleted; null for other nodes.",
  })
  assistant(@Root() { assistantId }: WorkflowNode, @Ctx() { scope }: Context) {
    return assistantId === null ? null : scope.of(Assistants).byIdIncludingDeleted(assistantId);
  }
}

@Resolver(() => WorkflowEdge)
export class WorkflowEdgeResolver {
  @Mutation(() => WorkflowEdge, {
    description:
      "Adds an edge to a workflow; a workflow has at most 1,000 edges. Errors: WORKFLOW_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND.",
  })
  createWorkflowEdge(
    @Arg("workflowId", () => ID, { description: "Id of the workflow." }) workflowId: string,
    @Arg("input", { description: "The new edge." }) input: CreateWorkflowEdgeInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowEdges).create(workflowId, input);
  }

  @Mutation(() => WorkflowEdge, {
    description: "Updates an edge. Errors: WORKFLOW_EDGE_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND.",
  })
  updateWorkflowEdge(
    @Arg("id", () => ID, { description: "Id of the edge." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateWorkflowEdgeInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowEdges).update(id, input);
  }

  @Mutation(() => Deleted, { description: "Deletes an edge. Errors: WORKFLOW_EDGE_NOT_FOUND." })
  deleteWorkflowEdge(
    @Arg("id", () => ID, { description: "Id of the edge." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowEdges).remove(id);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      "For a MODEL edge, name of the tool with which the model chooses it; null otherwise. Without a model provider, the message `call:NAME {}` chooses it.",
  })
  async toolName(@Root() { id, workflowId }: WorkflowEdge, @Ctx() { scope }: Context) {
    return toolNameOf(await scope.of(Workflows).flow(workflowId), id);
  }
}
