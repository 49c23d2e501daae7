import { Arg, Ctx, ID, InputType, Resolver } from "type-graphql";
import { MAX_EDGES, MAX_NODES } from "../../src/conversation/workflows/part-rules";
import { replaceGraph } from "../../src/conversation/workflows/replace-graph";
import type { Context } from "../core/context";
import { Field, Mutation } from "../core/decorators";
import { Rule } from "../core/rules";
import { CreateWorkflowEdgeInput, CreateWorkflowNodeInput } from "./inputs";
import { Workflow } from "./workflow";

const ID_OR_REF = { minLength: 1, maxLength: 255 } as const;

@InputType({
  description:
    "Node of a workflow: an existing one with its id, or a new one. Omitted fields get their defaults.",
})
export class WorkflowGraphNodeInput extends CreateWorkflowNodeInput {
  @Rule(ID_OR_REF)
  @Field(() => ID, {
    nullable: true,
    description: "Id of a node of the workflow, which the node keeps. Default: a new node.",
  })
  id?: string | null;
  @Rule(ID_OR_REF)
  @Field(() => String, {
    nullable: true,
    description:
      "Name by which edges of this input refer to the node, 1 to 255 characters; it is not stored. Must differ from the other refs and ids of nodes.",
  })
  ref?: string | null;
}

@InputType({
  description:
    "Edge of a workflow: an existing one with its id, or a new one. Omitted fields get their defaults.",
})
export class WorkflowGraphEdgeInput extends CreateWorkflowEdgeInput {
  @Rule(ID_OR_REF)
  @Field(() => ID, {
    nullable: true,
    description: "Id of an edge of the workflow, which the edge keeps. Default: a new edge.",
  })
  id?: string | null;
  @Field(() => ID, { description: "Source node: `id` or `ref` of a node of this input." })
  declare fromNodeId: string;
  @Field(() => ID, { description: "Target node: `id` or `ref` of a node of this input." })
  declare toNodeId: string;
}

@InputType({ description: "All nodes and edges of a workflow. Those that are not listed are deleted." })
export class WorkflowGraphInput {
  @Rule({ maxItems: MAX_NODES })
  @Field(() => [WorkflowGraphNodeInput], { description: "All nodes, at most 200." })
  nodes!: WorkflowGraphNodeInput[];
  @Rule({ maxItems: MAX_EDGES })
  @Field(() => [WorkflowGraphEdgeInput], { description: "All edges, at most 1,000." })
  edges!: WorkflowGraphEdgeInput[];
}

@Resolver()
export class WorkflowGraphResolver {
  @Mutation(() => Workflow, {
    description:
      "Replaces all nodes and edges of a workflow at once: conversations meet the former graph or the new one. Nodes and edges with the id of an existing one keep it; those that are equal to it stay unchanged. New ones follow in the given order. Errors: WORKFLOW_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND, WORKFLOW_EDGE_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  replaceWorkflowGraph(
    @Arg("id", () => ID, { description: "Id of the workflow." }) id: string,
    @Arg("input", { description: "The nodes and edges." }) input: WorkflowGraphInput,
    @Ctx() { scope }: Context,
  ) {
    return replaceGraph(scope, id, input);
  }
}
