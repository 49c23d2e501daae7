import { Arg, Args, Ctx, ID, InputType, Int, ObjectType, Resolver } from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { Projects } from "../../src/account/projects/projects";
import { TelephonyConnections } from "../../src/assistants/telephony/telephony-connections";
import { Deployments, type DeploymentType as Type } from "../../src/conversation/workflows/deployments";
import { Workflows } from "../../src/conversation/workflows/workflows";
import { Assistant, Deleted } from "../assistants/assistants";
import { ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Query, Root } from "../core/decorators";
import { Project } from "../projects/projects";
import { NotNull, Rule } from "../core/rules";
import { TelephonyConnection } from "../telephony/telephony";
import { Workflow } from "./workflow";
import { DeploymentType } from "./enums";
import { ProjectConnectionArgs } from "./inputs";

@ObjectType({
  implements: Node,
  description: "Way for people to reach an assistant or a workflow.",
  simpleResolvers: true,
})
export class Deployment {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field(() => DeploymentType, { description: "Type of the deployment." })
  type!: string;
  @Field({ description: "Whether it is live." })
  enabled!: boolean;
  @Field(() => ID, { nullable: true, description: "Id of the connected number; null if there is none." })
  telephonyConnectionId!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Key that identifies the deployment in files of the command `parley`, unique among the organization's deployments; null if it has none.",
  })
  key!: string | null;
  @Field(() => Int, {
    nullable: true,
    description:
      "Number of the version of the assistant that new conversations use; null: the version that is current when they begin.",
  })
  assistantVersion!: number | null;
  @Field({ description: "Creation time." })
  createdAt!: Date;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
  projectId!: string | null;
  assistantId!: string | null;
  workflowId!: string | null;
}

@InputType({
  description:
    "Changes to a deployment. Omitted fields stay unchanged; null clears a field that may be empty. Setting an assistant removes the workflow, and vice versa.",
})
export class UpdateDeploymentInput {
  @NotNull
  @Field(() => DeploymentType, { nullable: true, description: "Type of the deployment." })
  type?: Type;
  @NotNull
  @Field({ nullable: true, description: "Whether it is live." })
  enabled?: boolean;
  @Rule({ minLength: 1, maxLength: 100, format: "key" })
  @Field(() => String, {
    nullable: true,
    description:
      "Key that identifies the deployment in files of the command `parley`, 1 to 100 characters: lowercase letters, digits, ., _ and -, beginning with a letter or digit. Unique among the organization's deployments: CONFLICT if another one has it.",
  })
  key?: string | null;
  @Field(() => ID, { nullable: true, description: "Id of its project." })
  projectId?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "Id of the assistant that speaks. Omit it for a workflow.",
  })
  assistantId?: string | null;
  @Rule({ minimum: 1 })
  @Field(() => Int, {
    nullable: true,
    description:
      "Number of the version of the assistant that new conversations use, from 1. Null, or when the assistant is replaced: the version that is current when they begin.",
  })
  assistantVersion?: number | null;
  @Field(() => ID, { nullable: true, description: "Id of the workflow that runs. Omit it for an assistant." })
  workflowId?: string | null;
  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => ID, { nullable: true, description: "Id of the connected number to use." })
  telephonyConnectionId?: string | null;
}

@InputType({ description: "New deployment of either an assistant or a workflow." })
export class CreateDeploymentInput extends UpdateDeploymentInput {
  @Field(() => DeploymentType, { description: "Type of the deployment." })
  declare type: Type;
  @NotNull
  @Field({ nullable: true, defaultValue: true, description: "Whether it is live. Default: true." })
  declare enabled?: boolean;
}

const DeploymentConnection = ConnectionOf(() => Deployment, "Deployment");

@Resolver(() => Deployment)
export class DeploymentResolver {
  @Query(() => [Deployment], {
    description: "Lists the organization's deployments, newest first. Errors: PROJECT_NOT_FOUND.",
  })
  deployments(
    @Arg("projectId", () => ID, {
      nullable: true,
      description: "Only deployments of this project. Default: all.",
    })
    projectId: string | undefined,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).list(projectId);
  }

  @Query(() => DeploymentConnection, {
    description: "Lists the organization's deployments, in pages. Errors: PROJECT_NOT_FOUND.",
  })
  deploymentsConnection(@Args() { projectId, ...query }: ProjectConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(Deployments).connection(query, projectId);
  }

  @Query(() => Deployment, { description: "Returns a deployment. Errors: DEPLOYMENT_NOT_FOUND." })
  deployment(
    @Arg("id", () => ID, { description: "Id of the deployment." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).byId(id);
  }

  @Mutation(() => Deployment, {
    description:
      "Creates a deployment. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND, TELEPHONY_CONNECTION_NOT_FOUND, CONFLICT.",
  })
  createDeployment(
    @Arg("input", { description: "The new deployment." }) input: CreateDeploymentInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).create(input);
  }

  @Mutation(() => Deployment, {
    description:
      "Updates a deployment. Errors: DEPLOYMENT_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND, TELEPHONY_CONNECTION_NOT_FOUND, CONFLICT.",
  })
  updateDeployment(
    @Arg("id", () => ID, { description: "Id of the deployment." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateDeploymentInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).update(id, input);
  }

  @Mutation(() => Deleted, {
    description:
      "Deletes a deployment. Chats and calls started with it continue. Errors: DEPLOYMENT_NOT_FOUND.",
  })
  deleteDeployment(
    @Arg("id", () => ID, { description: "Id of the deployment." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).remove(id);
  }

  @FieldResolver(() => Project, {
    nullable: true,
    description: "Project of the deployment; null if it has none.",
  })
  project(@Root() { projectId }: Deployment, @Ctx() { scope }: Context) {
    return projectId == null ? null : scope.of(Projects).byId(projectId);
  }

  @FieldResolver(() => TelephonyConnection, {
    nullable: true,
    description: "Connected number; null if there is none or it has been disconnected.",
  })
  telephonyConnection(@Root() { telephonyConnectionId: id }: Deployment, @Ctx() { scope }: Context) {
    return id === null ? null : scope.of(TelephonyConnections).find(id);
  }

  @FieldResolver(() => Workflow, {
    nullable: true,
    description: "Workflow that runs; null for a deployment of an assistant.",
  })
  workflow(@Root() { workflowId }: Deployment, @Ctx() { scope }: Context) {
    return workflowId === null ? null : scope.of(Workflows).byId(workflowId);
  }

  @FieldResolver(() => Assistant, {
    nullable: true,
    description: "Assistant that speaks, even if it has been deleted; null for a deployment of a workflow.",
  })
  assistant(@Root() { assistantId }: Deployment, @Ctx() { scope }: Context) {
    return assistantId === null ? null : scope.of(Assistants).byIdIncludingDeleted(assistantId);
  }
}
