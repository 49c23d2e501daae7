import { Arg, Args, Ctx, ID, ObjectType, Resolver } from "type-graphql";
import { Projects } from "../../src/account/projects/projects";
import { Deployments } from "../../src/conversation/workflows/deployments";
import { WorkflowChecker } from "../../src/conversation/workflows/workflow-checker";
import { Workflows } from "../../src/conversation/workflows/workflows";
import { Deleted } from "../assistants/assistants";
import { ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Field, FieldResolver, Mutation, Query, Root } from "../core/decorators";
import { Deployment } from "./deployments";
import { Project } from "../projects/projects";
import { Workflow } from "./workflow";
import { WorkflowProblemCode, WorkflowProblemSeverity } from "./enums";
import { WorkflowEdge, WorkflowNode } from "./graph";
import { CreateWorkflowInput, ProjectConnectionArgs, UpdateWorkflowInput } from "./inputs";

@ObjectType({ description: "Problem of a workflow.", simpleResolvers: true })
export class WorkflowProblem {
  @Field(() => WorkflowProblemCode, { description: "Kind of the problem." })
  code!: string;
  @Field(() => WorkflowProblemSeverity, {
    description: "Whether the problem prevents the workflow from running.",
  })
  severity!: string;
  @Field(() => ID, { nullable: true, description: "Id of the affected node; null if there is none." })
  nodeId!: string | null;
  @Field(() => ID, { nullable: true, description: "Id of the affected edge; null if there is none." })
  edgeId!: string | null;
  @Field({ description: "Explanation, as a sentence." })
  message!: string;
}

// Its edges cannot be called WorkflowEdge, as those between nodes are.
const WorkflowConnection = ConnectionOf(() => Workflow, "Workflow", "WorkflowConnectionEdge");

@Resolver(() => Workflow)
export class WorkflowResolver {
  @Query(() => [Workflow], {
    description: "Lists the organization's workflows, newest first. Errors: PROJECT_NOT_FOUND.",
  })
  workflows(
    @Arg("projectId", () => ID, {
      nullable: true,
      description: "Only workflows of this project. Default: all.",
    })
    projectId: string | undefined,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Workflows).list(projectId);
  }

  @Query(() => WorkflowConnection, {
    description: "Lists the organization's workflows, in pages. Errors: PROJECT_NOT_FOUND.",
  })
  workflowsConnection(@Args() { projectId, ...query }: ProjectConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(Workflows).connection(query, projectId);
  }

  @Query(() => Workflow, { description: "Returns a workflow. Errors: WORKFLOW_NOT_FOUND." })
  workflow(
    @Arg("id", () => ID, { description: "Id of the workflow." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Workflows).byId(id);
  }

  @Mutation(() => Workflow, {
    description: "Creates a workflow without nodes. Errors: PROJECT_NOT_FOUND, CONFLICT.",
  })
  createWorkflow(
    @Arg("input", { description: "The new workflow." }) input: CreateWorkflowInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Workflows).create(input);
  }

  @Mutation(() => Workflow, {
    description: "Updates a workflow. Errors: WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND, CONFLICT.",
  })
  updateWorkflow(
    @Arg("id", () => ID, { description: "Id of the workflow." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateWorkflowInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Workflows).update(id, input);
  }

  @Mutation(() => Deleted, {
    description:
      "Deletes a workflow with its nodes, edges and deployments and ends its live chats and calls. Errors: WORKFLOW_NOT_FOUND.",
  })
  deleteWorkflow(
    @Arg("id", () => ID, { description: "Id of the workflow." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Workflows).remove(id);
  }

  @FieldResolver(() => Project, {
    nullable: true,
    description: "Project of the workflow; null if it has none.",
  })
  project(@Root() { projectId }: Workflow, @Ctx() { scope }: Context) {
    return projectId == null ? null : scope.of(Projects).byId(projectId);
  }

  @FieldResolver(() => [WorkflowNode], { description: "Nodes of the workflow, oldest first." })
  async nodes(@Root() { id }: Workflow, @Ctx() { scope }: Context) {
    return (await scope.of(Workflows).flow(id)).nodes;
  }

  @FieldResolver(() => [WorkflowEdge], { description: "Edges of the workflow, by rank." })
  async edges(@Root() { id }: Workflow, @Ctx() { scope }: Context) {
    return (await scope.of(Workflows).flow(id)).edges;
  }

  @FieldResolver(() => [WorkflowProblem], {
    description: "Problems of the workflow. It can run if none has the severity ERROR.",
  })
  problems(@Root() { id }: Workflow, @Ctx() { scope }: Context) {
    return scope.of(WorkflowChecker).problems(id);
  }

  @FieldResolver(() => [Deployment], { description: "Deployments of the workflow, newest first." })
  deployments(@Root() { id }: Workflow, @Ctx() { scope }: Context) {
    return scope.of(Deployments).ofWorkflow(id);
  }
}
