import { Arg, Ctx, Field, FieldResolver, ID, Int, Mutation, ObjectType, Resolver, Root } from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { toolNameOf } from "../../src/conversation/workflows/transitions";
import { WorkflowEdges } from "../../src/conversation/workflows/workflow-edges";
import { WorkflowNodes } from "../../src/conversation/workflows/workflow-nodes";
import { Workflows } from "../../src/conversation/workflows/workflows";
import { Assistant, Deleted } from "../assistants/assistants";
import type { Context } from "../core/context";
import { JSONObject } from "../core/scalars";
import { WorkflowEdgeKind, WorkflowNodeType, WorkflowOperator } from "./enums";
import {
  CreateWorkflowEdgeInput,
  CreateWorkflowNodeInput,
  UpdateWorkflowEdgeInput,
  UpdateWorkflowNodeInput,
} from "./inputs";

type JsonObject = Record<string, unknown>;

@ObjectType({ description: "A place that a conversation can be at in a workflow.", simpleResolvers: true })
export class WorkflowNode {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field(() => ID, { description: "The workflow that it belongs to." })
  workflowId!: string;
  @Field(() => WorkflowNodeType, { description: "What happens at it." })
  type!: string;
  @Field({ description: "What it is called; messages carry it." })
  name!: string;
  @Field(() => String, {
    nullable: true,
    description: "Of a PROMPT: what the assistant is to do here, behind its own prompt.",
  })
  instructions!: string | null;
  @Field(() => String, { nullable: true, description: "Of an ACTION: the function that is called." })
  functionName!: string | null;
  @Field(() => JSONObject, { description: "Of an ACTION: the arguments of the function." })
  arguments!: JsonObject;
  @Field(() => String, { nullable: true, description: "The variable that keeps the reply of a function." })
  resultVariable!: string | null;
  @Field(() => String, { nullable: true, description: "Of an END: the last words." })
  message!: string | null;
  @Field(() => String, { nullable: true, description: "Of an END: becomes the endedReason of the chat." })
  endReason!: string | null;
  @Field(() => JSONObject, { description: "What is kept with the node, such as its place on a canvas." })
  metadata!: JsonObject;
  @Field({ description: "When it was made." })
  createdAt!: Date;
  @Field({ description: "When it was last changed." })
  updatedAt!: Date;
  assistantId!: string | null;
}

@ObjectType({ description: "A way from one node of a workflow to another one.", simpleResolvers: true })
export class WorkflowEdge {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field(() => ID, { description: "The workflow that it belongs to." })
  workflowId!: string;
  @Field(() => ID, { description: "The node that it leads away from." })
  fromNodeId!: string;
  @Field(() => ID, { description: "The node that it leads to." })
  toNodeId!: string;
  @Field(() => WorkflowEdgeKind, { description: "When it is taken." })
  kind!: string;
  @Field(() => Int, { description: "Of the edges of one node the lower one is looked at first." })
  rank!: number;
  @Field(() => String, { nullable: true, description: "Of a MODEL edge: when the model is to choose it." })
  description!: string | null;
  @Field(() => [String], {
    description: "Of a MODEL edge: variables whose values the model gives with its choice.",
  })
  collects!: string[];
  @Field(() => String, { nullable: true, description: "Of a VARIABLE edge: the name of the variable." })
  variable!: string | null;
  @Field(() => WorkflowOperator, {
    nullable: true,
    description: "Of a VARIABLE edge: how the variable is compared.",
  })
  operator!: string | null;
  @Field(() => String, { nullable: true, description: "Of a VARIABLE edge: what it is compared with." })
  value!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "Of a FUNCTION edge: the function that has answered.",
  })
  functionName!: string | null;
  @Field({ description: "When it was made." })
  createdAt!: Date;
  @Field({ description: "When it was last changed." })
  updatedAt!: Date;
}

@Resolver(() => WorkflowNode)
export class WorkflowNodeResolver {
  @Mutation(() => WorkflowNode, {
    description:
      "Adds a node to a workflow, which has at most 200. Errors: WORKFLOW_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  createWorkflowNode(
    @Arg("workflowId", () => ID, { description: "Id of the workflow." }) workflowId: string,
    @Arg("input", { description: "The new node." }) input: CreateWorkflowNodeInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowNodes).create(workflowId, input);
  }

  @Mutation(() => WorkflowNode, {
    description: "Changes a node. Errors: WORKFLOW_NODE_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  updateWorkflowNode(
    @Arg("id", () => ID, { description: "Id of the node." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateWorkflowNodeInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowNodes).update(id, input);
  }

  @Mutation(() => Deleted, {
    description: "Deletes a node with the edges that touch it. Errors: WORKFLOW_NODE_NOT_FOUND.",
  })
  deleteWorkflowNode(
    @Arg("id", () => ID, { description: "Id of the node." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowNodes).remove(id);
  }

  @FieldResolver(() => Assistant, {
    nullable: true,
    description: "Who speaks, or whose function is called; even when it was deleted since.",
  })
  assistant(@Root() { assistantId }: WorkflowNode, @Ctx() { scope }: Context) {
    return assistantId === null ? null : scope.of(Assistants).evenDeleted(assistantId);
  }
}

@Resolver(() => WorkflowEdge)
export class WorkflowEdgeResolver {
  @Mutation(() => WorkflowEdge, {
    description:
      "Adds an edge to a workflow, which has at most 1,000. Errors: WORKFLOW_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND.",
  })
  createWorkflowEdge(
    @Arg("workflowId", () => ID, { description: "Id of the workflow." }) workflowId: string,
    @Arg("input", { description: "The new edge." }) input: CreateWorkflowEdgeInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(WorkflowEdges).create(workflowId, input);
  }

  @Mutation(() => WorkflowEdge, {
    description: "Changes an edge. Errors: WORKFLOW_EDGE_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND.",
  })
  updateWorkflowEdge(
    @Arg("id", () => ID, { description: "Id of the edge." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateWorkflowEdgeInput,
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
      "Of a MODEL edge: name of the tool by which the model chooses it. Without a model, a message `call:NAME {}` does.",
  })
  async toolName(@Root() { id, workflowId }: WorkflowEdge, @Ctx() { scope }: Context) {
    return toolNameOf(await scope.of(Workflows).flow(workflowId), id);
  }
}
