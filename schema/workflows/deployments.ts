import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { Projects } from "../../src/account/projects/projects";
import { TelephonyConnections } from "../../src/assistants/telephony/telephony-connections";
import { Deployments, type DeploymentType as Type } from "../../src/conversation/workflows/deployments";
import { Workflows } from "../../src/conversation/workflows/workflows";
import { Assistant, Deleted } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Project } from "../projects/projects";
import { NotNull, Rule } from "../core/rules";
import { TelephonyConnection } from "../telephony/telephony";
import { Workflow } from "./workflow";
import { DeploymentType } from "./enums";

@ObjectType({ description: "Where an assistant or a workflow is met.", simpleResolvers: true })
export class Deployment {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field(() => DeploymentType, { description: "In what way it is met." })
  type!: string;
  @Field({ description: "Whether it is met now." })
  enabled!: boolean;
  @Field(() => ID, { nullable: true, description: "Id of the connected number that it uses." })
  telephonyConnectionId!: string | null;
  @Field({ description: "When it was made." })
  createdAt!: Date;
  @Field({ description: "When it was last changed." })
  updatedAt!: Date;
  projectId!: string | null;
  assistantId!: string | null;
  workflowId!: string | null;
}

@InputType({ description: "A new deployment: of an assistant or of a workflow." })
export class CreateDeploymentInput {
  @Field(() => DeploymentType, { description: "In what way it is met." })
  type!: Type;
  @NotNull
  @Field({ nullable: true, defaultValue: true, description: "Whether it is met now." })
  enabled?: boolean;
  @Field(() => ID, { nullable: true, description: "The project it belongs to." })
  projectId?: string | null;
  @Field(() => ID, { nullable: true, description: "The assistant that speaks; or a workflow." })
  assistantId?: string | null;
  @Field(() => ID, { nullable: true, description: "The workflow that runs; or an assistant." })
  workflowId?: string | null;
  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => ID, { nullable: true, description: "The connected number that it uses." })
  telephonyConnectionId?: string | null;
}

@InputType({
  description:
    "Changes to a deployment. What is left out stays; null clears what may be empty. An assistant takes the place of a workflow, and the other way round.",
})
export class UpdateDeploymentInput {
  @NotNull
  @Field(() => DeploymentType, { nullable: true, description: "In what way it is met." })
  type?: Type;
  @NotNull
  @Field({ nullable: true, description: "Whether it is met now." })
  enabled?: boolean;
  @Field(() => ID, { nullable: true, description: "The project it belongs to." })
  projectId?: string | null;
  @Field(() => ID, { nullable: true, description: "The assistant that speaks; or a workflow." })
  assistantId?: string | null;
  @Field(() => ID, { nullable: true, description: "The workflow that runs; or an assistant." })
  workflowId?: string | null;
  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => ID, { nullable: true, description: "The connected number that it uses." })
  telephonyConnectionId?: string | null;
}

@Resolver(() => Deployment)
export class DeploymentResolver {
  @Query(() => [Deployment], {
    description: "The organization's deployments, the newest first. Errors: PROJECT_NOT_FOUND.",
  })
  deployments(
    @Arg("projectId", () => ID, { nullable: true, description: "Those of a project; all without it." })
    projectId: string | undefined,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).list(projectId);
  }

  @Query(() => Deployment, { description: "One deployment. Errors: DEPLOYMENT_NOT_FOUND." })
  deployment(
    @Arg("id", () => ID, { description: "Id of the deployment." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).byId(id);
  }

  @Mutation(() => Deployment, {
    description:
      "Makes a deployment. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND, TELEPHONY_CONNECTION_NOT_FOUND.",
  })
  createDeployment(
    @Arg("input", { description: "The new deployment." }) input: CreateDeploymentInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).create(input);
  }

  @Mutation(() => Deployment, {
    description:
      "Changes a deployment. Errors: DEPLOYMENT_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND, TELEPHONY_CONNECTION_NOT_FOUND.",
  })
  updateDeployment(
    @Arg("id", () => ID, { description: "Id of the deployment." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateDeploymentInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).update(id, input);
  }

  @Mutation(() => Deleted, {
    description: "Deletes a deployment; what was begun with it goes on. Errors: DEPLOYMENT_NOT_FOUND.",
  })
  deleteDeployment(
    @Arg("id", () => ID, { description: "Id of the deployment." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).remove(id);
  }

  @FieldResolver(() => Project, { nullable: true, description: "The project it belongs to." })
  project(@Root() { projectId }: Deployment, @Ctx() { scope }: Context) {
    return projectId == null ? null : scope.of(Projects).byId(projectId);
  }

  @FieldResolver(() => TelephonyConnection, {
    nullable: true,
    description: "The connected number that it uses; null where that was disconnected since.",
  })
  telephonyConnection(@Root() { telephonyConnectionId: id }: Deployment, @Ctx() { scope }: Context) {
    return id === null ? null : scope.of(TelephonyConnections).find(id);
  }

  @FieldResolver(() => Workflow, { nullable: true, description: "The workflow that runs." })
  workflow(@Root() { workflowId }: Deployment, @Ctx() { scope }: Context) {
    return workflowId === null ? null : scope.of(Workflows).byId(workflowId);
  }

  @FieldResolver(() => Assistant, {
    nullable: true,
    description: "The assistant that speaks, even when it was deleted since.",
  })
  assistant(@Root() { assistantId }: Deployment, @Ctx() { scope }: Context) {
    return assistantId === null ? null : scope.of(Assistants).evenDeleted(assistantId);
  }
}
