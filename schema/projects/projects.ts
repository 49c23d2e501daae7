import {
  Arg,
  Args,
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
import { WebhookDestinations } from "../../src/events/webhooks/destinations";
import { Assistant, AssistantPage, Deleted } from "../assistants/assistants";
import type { Context } from "../core/context";
import { PageArgs } from "../core/page";
import { Rule } from "../core/rules";
import { WebhookDestination } from "../webhooks/webhooks";

@ObjectType({
  description: "A group of assistants with webhook destinations of its own.",
  simpleResolvers: true,
})
export class Project {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field({ description: "What it is called, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "What it is for." })
  description!: string | null;
  @Field({ description: "When it was made." })
  createdAt!: Date;
  @Field({ description: "When it was last changed." })
  updatedAt!: Date;
}

@InputType({ description: "A new project." })
export class CreateProjectInput {
  @Rule({ minLength: 1, maxLength: 255 })
  @Field({ description: "What it is called, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "What it is for, at most 1 MiB." })
  description?: string | null;
}

@InputType({ description: "Changes to a project. What is left out stays; null clears the description." })
export class UpdateProjectInput {
  @Rule({ minLength: 1, maxLength: 255, nullable: false })
  @Field({ nullable: true, description: "What it is called, 1 to 255 characters." })
  name?: string;
  @Field(() => String, { nullable: true, description: "What it is for, at most 1 MiB." })
  description?: string | null;
}

@Resolver(() => Project)
export class ProjectResolver {
  @Query(() => [Project], { description: "The organization's projects, the newest first." })
  projects(@Ctx() { scope }: Context) {
    return scope.of(Projects).list();
  }

  @Query(() => Project, { description: "One project. Errors: PROJECT_NOT_FOUND." })
  project(@Arg("id", () => ID, { description: "Id of the project." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Projects).byId(id);
  }

  @Mutation(() => Project, { description: "Makes a project." })
  createProject(
    @Arg("input", { description: "The new project." }) input: CreateProjectInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Projects).create(input);
  }

  @Mutation(() => Project, { description: "Changes a project. Errors: PROJECT_NOT_FOUND." })
  updateProject(
    @Arg("id", () => ID, { description: "Id of the project." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateProjectInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Projects).update(id, input);
  }

  @Mutation(() => Deleted, {
    description:
      "Deletes a project with its webhook destinations; its assistants, workflows and deployments stay. Errors: PROJECT_NOT_FOUND.",
  })
  deleteProject(
    @Arg("id", () => ID, { description: "Id of the project." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Projects).remove(id);
  }

  @FieldResolver(() => AssistantPage, { description: "Its assistants." })
  assistants(@Root() { id: projectId }: Project, @Args() args: PageArgs, @Ctx() { scope }: Context) {
    return scope.of(Assistants).list({ ...args, projectId });
  }

  @FieldResolver(() => [WebhookDestination], {
    description: "Its webhook destinations, which take over from those of the organization.",
  })
  webhookDestinations(@Root() { id }: Project, @Ctx() { scope }: Context) {
    return scope.of(WebhookDestinations).list(id);
  }
}

@Resolver(() => Assistant)
export class AssistantProjectResolver {
  @FieldResolver(() => Project, { nullable: true, description: "The project it belongs to." })
  project(@Root() { projectId }: Assistant, @Ctx() { scope }: Context) {
    return projectId == null ? null : scope.of(Projects).byId(projectId);
  }
}

@Resolver(() => WebhookDestination)
export class DestinationProjectResolver {
  @FieldResolver(() => Project, {
    nullable: true,
    description: "The project whose events it gets; null: the organization's.",
  })
  project(@Root() { projectId }: WebhookDestination, @Ctx() { scope }: Context) {
    return projectId == null ? null : scope.of(Projects).byId(projectId);
  }
}
