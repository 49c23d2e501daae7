import {
  Arg,
  Args,
  ArgsType,
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
import { removeAssistant } from "../../src/chats/chats/remove-assistant";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { Templates } from "../../src/assistants/configurations/templates";
import { Configurations } from "../../src/assistants/configurations/configurations";
import { configurationWarnings } from "../../src/assistants/assistants/warnings";
import { ConfigurationWarning } from "../configurations/warnings";
import type { Context } from "../core/context";
import { Deadline, PAGE_DEADLINE_MS } from "../core/deadline";
import {
  ChatConfiguration,
  SmsConfiguration,
  ThemeConfiguration,
  VoiceConfiguration,
} from "../configurations/configurations";
import { PageArgs, PageOf } from "../core/page";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { Selected } from "../core/selected";

@ObjectType({
  description:
    "An AI assistant, also called a companion, that talks with people by voice, text chat and SMS.",
  simpleResolvers: true,
})
export class Assistant {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field({ description: "What it is called, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "What it is for." })
  description!: string | null;
  @Field({
    description: "Whether it is one of the shared, read-only templates, which are used by duplicating them.",
  })
  template!: boolean;
  @Field(() => JSONObject, {
    nullable: true,
    description:
      "Test values of the variables in its prompts and greetings, by name; a call's or page's own values come before them.",
  })
  variables!: Record<string, unknown> | null;
  @Field({ description: "When it was made." })
  createdAt!: Date;
  @Field({ description: "When its name, description or variables were last changed." })
  updatedAt!: Date;
  projectId!: string | null;
}

@ObjectType({ description: "What was deleted.", simpleResolvers: true })
export class Deleted {
  @Field(() => ID, { description: "The id it had." })
  id!: string;
}

@InputType({ description: "A new assistant." })
export class CreateAssistantInput {
  @Rule({ minLength: 1, maxLength: 255 })
  @Field({ description: "What it is called, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "What it is for, at most 1 MiB." })
  description?: string | null;
  @Field(() => JSONObject, {
    nullable: true,
    description: "Test values of the variables in its prompts and greetings, by name.",
  })
  variables?: Record<string, unknown> | null;
  @Field(() => ID, { nullable: true, description: "The project it belongs to." })
  projectId?: string | null;
}

@InputType({
  description:
    "Changes to an assistant. What is left out stays; null clears the description, the variables or the project.",
})
export class UpdateAssistantInput {
  @Rule({ minLength: 1, maxLength: 255, nullable: false })
  @Field({ nullable: true, description: "What it is called, 1 to 255 characters." })
  name?: string;
  @Field(() => String, { nullable: true, description: "What it is for, at most 1 MiB." })
  description?: string | null;
  @Field(() => JSONObject, {
    nullable: true,
    description: "Test values of the variables; replaces all of them.",
  })
  variables?: Record<string, unknown> | null;
  @Field(() => ID, { nullable: true, description: "The project it belongs to." })
  projectId?: string | null;
}

@ArgsType()
class AssistantsArgs extends PageArgs {
  @NotNull
  @Field({ nullable: true, description: "Part of a name or description, in any case." })
  search?: string;
}

export const AssistantPage = PageOf(() => Assistant, "Assistant");

@Resolver(() => Assistant)
export class AssistantResolver {
  @Deadline(PAGE_DEADLINE_MS)
  @Query(() => AssistantPage, { description: "The organization's assistants." })
  assistants(@Args() args: AssistantsArgs, @Ctx() { scope }: Context) {
    return scope.of(Assistants).list(args);
  }

  @Query(() => AssistantPage, {
    description: "The templates, which every organization may read and duplicate.",
  })
  assistantTemplates(@Args() args: PageArgs, @Ctx() { scope }: Context) {
    return scope.of(Templates).list(args);
  }

  @Query(() => Assistant, { description: "One assistant or template. Errors: ASSISTANT_NOT_FOUND." })
  assistant(
    @Arg("id", () => ID, { description: "Id of the assistant." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Assistants).byId(id);
  }

  @Mutation(() => Assistant, {
    description:
      "Makes an assistant with all four configurations, set to working defaults. Errors: QUOTA_EXCEEDED; for an unknown project PROJECT_NOT_FOUND.",
  })
  createAssistant(
    @Arg("input", { description: "The new assistant." }) input: CreateAssistantInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Assistants).create(input);
  }

  @Mutation(() => Assistant, {
    description:
      "Changes what the input names. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY; for an unknown project PROJECT_NOT_FOUND.",
  })
  updateAssistant(
    @Arg("id", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateAssistantInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Assistants).update(id, input);
  }

  @Mutation(() => Deleted, {
    description:
      "Deletes an assistant and ends its live chats; what was said stays readable. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  deleteAssistant(
    @Arg("id", () => ID, { description: "Id of the assistant." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return removeAssistant(scope, id);
  }

  @Mutation(() => Assistant, {
    description:
      "Copies an assistant or template, its variables and configurations included, its attached files not. Errors: ASSISTANT_NOT_FOUND, QUOTA_EXCEEDED.",
  })
  duplicateAssistant(
    @Arg("id", () => ID, { description: "Id of the assistant or template." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Assistants).duplicate(id);
  }

  @FieldResolver(() => VoiceConfiguration, { description: "How it speaks and listens." })
  voice(@Root() assistant: Assistant, @Selected() fields: string[], @Ctx() { scope }: Context) {
    return scope.of(Configurations).of("voice", assistant, fields);
  }

  @FieldResolver(() => SmsConfiguration, { description: "How it answers SMS." })
  sms(@Root() assistant: Assistant, @Selected() fields: string[], @Ctx() { scope }: Context) {
    return scope.of(Configurations).of("sms", assistant, fields);
  }

  @FieldResolver(() => ChatConfiguration, { description: "How it answers in text chats." })
  chat(@Root() assistant: Assistant, @Selected() fields: string[], @Ctx() { scope }: Context) {
    return scope.of(Configurations).of("chat", assistant, fields);
  }

  @FieldResolver(() => ThemeConfiguration, { description: "How its widget looks." })
  theme(@Root() assistant: Assistant, @Selected() fields: string[], @Ctx() { scope }: Context) {
    return scope.of(Configurations).of("theme", assistant, fields);
  }

  @FieldResolver(() => [ConfigurationWarning], {
    description: "What will not work as its configurations stand, though they may be stored so.",
  })
  configurationWarnings(@Root() assistant: Assistant, @Ctx() { scope }: Context) {
    return configurationWarnings(scope, assistant);
  }
}
