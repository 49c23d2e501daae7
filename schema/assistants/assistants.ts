import type { GraphQLResolveInfo } from "graphql";
import { Arg, Args, ArgsType, Ctx, ID, Info, InputType, ObjectType, Resolver } from "type-graphql";
import { removeAssistant } from "../../src/chats/chats/remove-assistant";
import { Assistants } from "../../src/assistants/assistants/assistants";
import type { AssistantRow } from "../../src/assistants/assistants/statements";
import { Templates } from "../../src/assistants/configurations/templates";
import { Versions } from "../../src/assistants/versions/versions";
import { Configurations } from "../../src/assistants/configurations/configurations";
import type { ToolServer } from "../../src/assistants/tool-servers/tool-servers";
import { configurationWarnings } from "../../src/assistants/assistants/warnings";
import { ConfigurationWarning } from "../configurations/warnings";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Query, Root } from "../core/decorators";
import { Deadline, PAGE_DEADLINE_MS } from "../core/deadline";
import {
  ChatConfiguration,
  SmsConfiguration,
  ThemeConfiguration,
  VoiceConfiguration,
} from "../configurations/configurations";
import { enumOf } from "../core/enums";
import { PageArgs, PageOf } from "../core/page";
import { readAhead } from "../core/read-ahead";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { Selected } from "../core/selected";

export const MissingVariables = enumOf(
  "MissingVariables",
  "The way to treat variables without a value in the texts of an assistant.",
  {
    KEEP: "The text stays as written, with the name in braces.",
    BLANK: "An empty text takes its place.",
    REFUSE:
      "The request that starts a chat or call is refused with MISSING_VARIABLES. After the start, and for people who call or text the assistant, the same as BLANK.",
  },
);

@ObjectType({
  implements: Node,
  description: "AI assistant that talks with people by voice, text chat and SMS. Events call it a companion.",
  simpleResolvers: true,
})
export class Assistant {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field({ description: "Name, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "Purpose of the assistant; null if none was given." })
  description!: string | null;
  @Field({
    description: "Whether this is a shared, read-only template. Duplicate a template to use it.",
  })
  template!: boolean;
  @Field(() => JSONObject, {
    nullable: true,
    description:
      "Test values of the variables in its prompts and greetings, by name. Values sent with a chat, call or page take precedence. Names consist of letters, digits, _ and ., and begin with a letter or _.",
  })
  variables!: Record<string, unknown> | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Key that identifies the assistant in files of the command `parley`, unique among the organization's assistants; null if it has none.",
  })
  key!: string | null;
  @Field(() => MissingVariables, {
    description:
      "How to treat variables without a value in the assistant's texts. Not part of versions: a change takes effect at once.",
  })
  missingVariables!: AssistantRow["missingVariables"];
  @Field({ description: "Creation time." })
  createdAt!: Date;
  @Field({ description: "Time of the last change to its name, description, variables or missingVariables." })
  updatedAt!: Date;
  projectId!: string | null;
  toolServers!: readonly ToolServer[] | null;
}

@ObjectType({ description: "Confirmation of a deletion.", simpleResolvers: true })
export class Deleted {
  @Field(() => ID, { description: "Id of the deleted record." })
  id!: string;
}

/** Fields of an assistant itself that are part of its document. */
@InputType()
export abstract class AssistantFields {
  @Rule({ minLength: 1, maxLength: 255, nullable: false })
  @Field({ nullable: true, description: "Name, 1 to 255 characters." })
  name?: string;
  @Field(() => String, { nullable: true, description: "Purpose of the assistant, at most 1 MiB." })
  description?: string | null;
  @Field(() => JSONObject, {
    nullable: true,
    description: "Test values of the variables in its prompts and greetings, by name.",
  })
  variables?: Record<string, unknown> | null;
}

@InputType({
  description:
    "Changes to an assistant. Omitted fields stay unchanged; null clears a field that may be empty; `variables` replaces the whole object.",
})
export class UpdateAssistantInput extends AssistantFields {
  @Rule({ minLength: 1, maxLength: 100, format: "key" })
  @Field(() => String, {
    nullable: true,
    description:
      "Key that identifies the assistant in files of the command `parley`, 1 to 100 characters: lowercase letters, digits, ., _ and -, beginning with a letter or digit. Unique among the organization's assistants: CONFLICT if another one has it.",
  })
  key?: string | null;
  @Field(() => ID, { nullable: true, description: "Id of its project." })
  projectId?: string | null;
  @Rule({ nullable: false, "x-extension": true })
  @Field(() => MissingVariables, {
    nullable: true,
    description: "The way to treat variables without a value in its texts. Default: KEEP.",
  })
  missingVariables?: AssistantRow["missingVariables"];
}

@InputType({ description: "New assistant." })
export class CreateAssistantInput extends UpdateAssistantInput {
  @Rule({ minLength: 1, maxLength: 255 })
  @Field({ description: "Name, 1 to 255 characters." })
  declare name: string;
}

@ArgsType()
class AssistantsArgs extends PageArgs {
  @NotNull
  @Field({ nullable: true, description: "Text that the name or description contains; case-insensitive." })
  search?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Only assistants of the project with this id." })
  projectId?: string;
}

export const AssistantPage = PageOf(() => Assistant, "Assistant");

@Resolver(() => Assistant)
export class AssistantResolver {
  @Deadline(PAGE_DEADLINE_MS)
  @Query(() => AssistantPage, { description: "Lists the organization's assistants." })
  assistants(@Args() args: AssistantsArgs, @Ctx() { scope }: Context) {
    return scope.of(Assistants).list(args);
  }

  @Query(() => AssistantPage, {
    description: "Lists the templates, which every organization may read and duplicate.",
  })
  assistantTemplates(@Args() args: PageArgs, @Ctx() { scope }: Context) {
    return scope.of(Templates).list(args);
  }

  @Query(() => Assistant, { description: "Returns an assistant or template. Errors: ASSISTANT_NOT_FOUND." })
  assistant(
    @Arg("id", () => ID, { description: "Id of the assistant." }) id: string,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return readAhead(info, { id }, context, () => context.scope.of(Assistants).byId(id));
  }

  @Mutation(() => Assistant, {
    description:
      "Creates an assistant with its four configurations, set to working defaults. Errors: QUOTA_EXCEEDED; PROJECT_NOT_FOUND if projectId is unknown.",
  })
  createAssistant(
    @Arg("input", { description: "The new assistant." }) input: CreateAssistantInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Assistants).create(input);
  }

  @Mutation(() => Assistant, {
    description:
      "Updates an assistant. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY; PROJECT_NOT_FOUND if projectId is unknown.",
  })
  updateAssistant(
    @Arg("id", () => ID, { description: "Id of the assistant." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateAssistantInput,
    @Selected() selected: readonly string[],
    @Ctx() { scope }: Context,
  ) {
    return selected.includes("version")
      ? scope.of(Versions).update(id, input)
      : scope.of(Assistants).update(id, input);
  }

  @Mutation(() => Deleted, {
    description:
      "Deletes an assistant and ends its live chats. Its logs stay readable. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  deleteAssistant(
    @Arg("id", () => ID, { description: "Id of the assistant." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return removeAssistant(scope, id);
  }

  @Mutation(() => Assistant, {
    description:
      "Copies an assistant or template with its variables, configurations and tool servers, but without its attached files. Errors: ASSISTANT_NOT_FOUND, QUOTA_EXCEEDED.",
  })
  duplicateAssistant(
    @Arg("id", () => ID, { description: "Id of the assistant or template." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Assistants).duplicate(id);
  }

  @FieldResolver(() => VoiceConfiguration, { description: "Configuration for calls." })
  voice(@Root() assistant: Assistant, @Selected() fields: string[], @Ctx() { scope }: Context) {
    return scope.of(Configurations).of("voice", assistant, fields);
  }

  @FieldResolver(() => SmsConfiguration, { description: "Configuration for SMS." })
  sms(@Root() assistant: Assistant, @Selected() fields: string[], @Ctx() { scope }: Context) {
    return scope.of(Configurations).of("sms", assistant, fields);
  }

  @FieldResolver(() => ChatConfiguration, { description: "Configuration for text chats." })
  chat(@Root() assistant: Assistant, @Selected() fields: string[], @Ctx() { scope }: Context) {
    return scope.of(Configurations).of("chat", assistant, fields);
  }

  @FieldResolver(() => ThemeConfiguration, { description: "Look and mode of the widget." })
  theme(@Root() assistant: Assistant, @Selected() fields: string[], @Ctx() { scope }: Context) {
    return scope.of(Configurations).of("theme", assistant, fields);
  }

  @FieldResolver(() => [ConfigurationWarning], {
    description: "Settings of the configurations that are valid but won't work.",
  })
  configurationWarnings(@Root() assistant: Assistant, @Ctx() { scope }: Context) {
    return configurationWarnings(scope, assistant);
  }
}
