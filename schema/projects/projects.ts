import { Arg, Args, Ctx, ID, InputType, ObjectType, Resolver } from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { Projects } from "../../src/account/projects/projects";
import { WebhookDestinations } from "../../src/events/webhooks/destinations";
import { removeProject } from "../../src/events/webhooks/remove-project";
import { Assistant, AssistantPage, Deleted } from "../assistants/assistants";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Query, Root } from "../core/decorators";
import { PageArgs } from "../core/page";
import { Rule } from "../core/rules";
import { WebhookDestination } from "../webhooks/webhooks";

@ObjectType({
  implements: Node,
  description: "Group of assistants, workflows and deployments with its own webhook destinations.",
  simpleResolvers: true,
})
export class Project {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field({ description: "Name, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "Purpose of the project; null if none was given." })
  description!: string | null;
  @Field({ description: "Creation time." })
  createdAt!: Date;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
}

@InputType({
  description: "Changes to a project. Omitted fields stay unchanged; null clears the description.",
})
export class UpdateProjectInput {
  @Rule({ minLength: 1, maxLength: 255, nullable: false })
  @Field({ nullable: true, description: "Name, 1 to 255 characters." })
  name?: string;
  @Field(() => String, { nullable: true, description: "Purpose of the project, at most 1 MiB." })
  description?: string | null;
}

@InputType({ description: "New project." })
export class CreateProjectInput extends UpdateProjectInput {
  @Rule({ minLength: 1, maxLength: 255 })
  @Field({ description: "Name, 1 to 255 characters." })
  declare name: string;
}

const ProjectConnection = ConnectionOf(() => Project, "Project");

@Resolver(() => Project)
export class ProjectResolver {
  @Query(() => [Project], { description: "Lists the organization's projects, newest first." })
  projects(@Ctx() { scope }: Context) {
    return scope.of(Projects).list();
  }

  @Query(() => ProjectConnection, {
    description: "Lists the organization's projects, in pages.",
  })
  projectsConnection(@Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(Projects).connection(query);
  }

  @Query(() => Project, { description: "Returns a project. Errors: PROJECT_NOT_FOUND." })
  project(@Arg("id", () => ID, { description: "Id of the project." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Projects).byId(id);
  }

  @Mutation(() => Project, { description: "Creates a project." })
  createProject(
    @Arg("input", { description: "The new project." }) input: CreateProjectInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Projects).create(input);
  }

  @Mutation(() => Project, { description: "Updates a project. Errors: PROJECT_NOT_FOUND." })
  updateProject(
    @Arg("id", () => ID, { description: "Id of the project." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateProjectInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Projects).update(id, input);
  }

  @Mutation(() => Deleted, {
    description:
      "Deletes a project and its webhook destinations. Its assistants, workflows and deployments stay. Errors: PROJECT_NOT_FOUND.",
  })
  deleteProject(
    @Arg("id", () => ID, { description: "Id of the project." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return removeProject(scope, id);
  }

  @FieldResolver(() => AssistantPage, { description: "Assistants of the project." })
  assistants(@Root() { id: projectId }: Project, @Args() args: PageArgs, @Ctx() { scope }: Context) {
    return scope.of(Assistants).ofProject(projectId, args);
  }

  @FieldResolver(() => [WebhookDestination], {
    description: "Webhook destinations of the project, which replace those of the organization.",
  })
  webhookDestinations(@Root() { id }: Project, @Ctx() { scope }: Context) {
    return scope.of(WebhookDestinations).ofProject(id);
  }
}

@Resolver(() => Assistant)
export class AssistantProjectResolver {
  @FieldResolver(() => Project, {
    nullable: true,
    description: "Project of the assistant; null if it has none.",
  })
  project(@Root() { projectId }: Assistant, @Ctx() { scope }: Context) {
    return projectId == null ? null : scope.of(Projects).byId(projectId);
  }
}

@Resolver(() => WebhookDestination)
export class DestinationProjectResolver {
  @FieldResolver(() => Project, {
    nullable: true,
    description: "Project whose events are sent to the destination; null: those of the organization.",
  })
  project(@Root() { projectId }: WebhookDestination, @Ctx() { scope }: Context) {
    return projectId == null ? null : scope.of(Projects).byId(projectId);
  }
}
