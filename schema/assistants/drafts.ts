import { Arg, Args, ArgsType, Ctx, ID, InputType, Int, ObjectType, Resolver } from "type-graphql";
import { Drafts } from "../../src/assistants/versions/drafts";
import type { JsonObject } from "../../src/platform/json/json-object";
import { shownValue } from "../../src/platform/json/json-source";
import {
  UpdateChatConfigurationInput,
  UpdateRagSettingsInput,
  UpdateSmsConfigurationInput,
  UpdateThemeConfigurationInput,
  UpdateVoiceConfigurationInput,
} from "../configurations/inputs";
import { THEME } from "../configurations/texts";
import { variableUses } from "../../src/conversation/functions/variable-uses";
import type { Context } from "../core/context";
import { Field, FieldResolver, Mutation, Root } from "../core/decorators";
import { NotNull, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { ConfigurationWarning } from "../configurations/warnings";
import {
  Assistant,
  AssistantFields,
  CreateAssistantInput,
  MissingVariables,
  type UpdateAssistantInput,
} from "./assistants";
import { MAX_NOTE_LENGTH, VariableUse } from "./versions";

const ASSISTANT = "Id of the assistant.";

@ObjectType({
  description:
    "Changes of an assistant that are not published yet. There is at most one draft of each assistant, for the whole organization.",
  simpleResolvers: true,
})
export class AssistantDraft {
  @Field(() => ID, { description: ASSISTANT })
  assistantId!: string;
  @Field(() => Int, { description: "Number of the version that was current when the draft was begun." })
  basedOn!: number;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
  content!: Readonly<Record<string, unknown>>;
}

@InputType({
  description: "Changes to the retrieval settings of the channels. Omitted fields stay unchanged.",
})
export class DraftRagInput {
  @NotNull
  @Field(() => UpdateRagSettingsInput, { nullable: true, description: "Retrieval settings for calls." })
  voice?: UpdateRagSettingsInput;
  @NotNull
  @Field(() => UpdateRagSettingsInput, { nullable: true, description: "Retrieval settings for SMS." })
  sms?: UpdateRagSettingsInput;
  @NotNull
  @Field(() => UpdateRagSettingsInput, { nullable: true, description: "Retrieval settings for text chats." })
  chat?: UpdateRagSettingsInput;
}

@InputType({
  description:
    "Changes to the document of an assistant, in the form of `AssistantVersion.document`. Omitted fields stay unchanged; null clears a description and variables.",
})
export class AssistantDraftInput extends AssistantFields {
  @NotNull
  @Field(() => UpdateVoiceConfigurationInput, { nullable: true, description: "Configuration for calls." })
  voice?: UpdateVoiceConfigurationInput;
  @NotNull
  @Field(() => UpdateSmsConfigurationInput, { nullable: true, description: "Configuration for SMS." })
  sms?: UpdateSmsConfigurationInput;
  @NotNull
  @Field(() => UpdateChatConfigurationInput, { nullable: true, description: "Configuration for text chats." })
  chat?: UpdateChatConfigurationInput;
  @NotNull
  @Field(() => UpdateThemeConfigurationInput, { nullable: true, description: "Look and mode of the widget." })
  theme?: UpdateThemeConfigurationInput;
  @NotNull
  @Field(() => DraftRagInput, { nullable: true, description: "Retrieval settings of the channels." })
  rag?: DraftRagInput;
  @Rule({ nullable: false, maxItems: 50 })
  @Field(() => [String], { nullable: true, description: THEME.allowedOrigins })
  allowedOrigins?: string[];
  @Rule({ nullable: false, maxItems: 100 })
  @Field(() => [ID], { nullable: true, description: "Ids of the files that the assistant answers from." })
  fileIds?: string[];
}

@InputType({
  description:
    "Changes to the settings of an assistant that are not part of its document, so they create no version. Omitted fields stay unchanged.",
})
export class AssistantSettingsInput implements Pick<UpdateAssistantInput, "projectId" | "missingVariables"> {
  @Field(() => ID, { nullable: true, description: "Id of its project; null: none." })
  projectId?: string | null;
  @NotNull
  @Field(() => MissingVariables, {
    nullable: true,
    description: "The way to treat variables without a value in its texts.",
  })
  missingVariables?: UpdateAssistantInput["missingVariables"];
}

@ArgsType()
class NoteArgs {
  @Rule({ maxLength: MAX_NOTE_LENGTH })
  @Field(() => String, {
    nullable: true,
    description: "Note about the new version, at most 1,000 characters. Default: none.",
  })
  note?: string | null;
}

@ArgsType()
class PublishArgs extends NoteArgs {
  @Field(() => ID, { description: ASSISTANT })
  assistantId!: string;
  @Rule({ minimum: 1 })
  @Field(() => Int, {
    nullable: true,
    description:
      "Number that the current version must have; otherwise the operation fails with VERSION_CONFLICT. Default: no check; earlier changes of other fields stay.",
  })
  ifVersion?: number | null;
}

@Resolver(() => AssistantDraft)
export class AssistantDraftResolver {
  @FieldResolver(() => JSONObject, {
    description:
      "Document that publishing the draft would produce: the current one with the changes of the draft.",
  })
  async document(@Root() draft: AssistantDraft, @Ctx() { scope }: Context) {
    return shownValue<JsonObject>({ ...(await scope.of(Drafts).document(draft)) });
  }

  @FieldResolver(() => [VariableUse], {
    description: "Variables that the document with the draft uses, as `AssistantVersion.variables`.",
  })
  async variables(@Root() draft: AssistantDraft, @Ctx() { scope }: Context) {
    return variableUses(scope, await scope.of(Drafts).document(draft));
  }

  @FieldResolver(() => [ConfigurationWarning], {
    description: "Values in the draft and the rest of the document that are valid but won't work.",
  })
  configurationWarnings(@Root() draft: AssistantDraft, @Ctx() { scope }: Context) {
    return scope.of(Drafts).warnings(draft);
  }
}

@Resolver(() => Assistant)
export class DraftedAssistantResolver {
  @FieldResolver(() => AssistantDraft, {
    nullable: true,
    description: "Draft with unpublished changes; null if there is none.",
  })
  async draft(@Root() { id }: Assistant, @Ctx() { scope }: Context) {
    return (await scope.of(Drafts).of(id)) ?? null;
  }

  @Mutation(() => AssistantDraft, {
    description:
      "Adds changes to the draft of an assistant, or begins a draft. They do not affect end users until the draft is published. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND.",
  })
  saveAssistantDraft(
    @Arg("assistantId", () => ID, { description: ASSISTANT }) assistantId: string,
    @Arg("input", { description: "Changes to add." }) input: AssistantDraftInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Drafts).save(assistantId, input as object);
  }

  @Mutation(() => Assistant, {
    description:
      "Publishes the draft: creates a version with its changes and removes the draft, in one step. Changes that were published meanwhile stay, unless the draft changes the same fields. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, DRAFT_NOT_FOUND; VERSION_CONFLICT if `ifVersion` is not the current version.",
  })
  publishAssistantDraft(@Args() { assistantId, note, ifVersion }: PublishArgs, @Ctx() { scope }: Context) {
    return scope.of(Drafts).publish(assistantId, { note, ifVersion });
  }

  @Mutation(() => Assistant, {
    description:
      "Changes any parts of an assistant in one step and as one version. The draft stays as it is. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND, PROJECT_NOT_FOUND; VERSION_CONFLICT if `ifVersion` is not the current version.",
  })
  updateAssistantDocument(
    @Args() { assistantId, note, ifVersion }: PublishArgs,
    @Arg("input", { description: "Changes to apply." }) input: AssistantDraftInput,
    @Arg("settings", () => AssistantSettingsInput, {
      nullable: true,
      description: "Changes to its settings, in the same step. Default: none.",
    })
    settings: AssistantSettingsInput | null | undefined,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Drafts).change(assistantId, input as object, { note, ifVersion, settings });
  }

  @Mutation(() => Assistant, {
    description:
      "Creates an assistant with a document as its first version. Fields that the document omits get their defaults. Errors: QUOTA_EXCEEDED, PROJECT_NOT_FOUND, FILE_NOT_FOUND; CONFLICT if another assistant has the key.",
  })
  createAssistantFromDocument(
    @Arg("input", { description: "The new assistant." }) input: CreateAssistantInput,
    @Arg("document", {
      description: "Document of the assistant. Its fields take precedence over those of `input`.",
    })
    document: AssistantDraftInput,
    @Args() { note }: NoteArgs,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Drafts).create(input, document as object, note);
  }

  @Mutation(() => Assistant, {
    description:
      "Removes the draft of an assistant; without one, it changes nothing. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  discardAssistantDraft(
    @Arg("assistantId", () => ID, { description: ASSISTANT }) assistantId: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Drafts).discard(assistantId);
  }
}
