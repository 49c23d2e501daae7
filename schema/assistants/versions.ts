import { Args, ArgsType, Ctx, ID, Int, ObjectType, registerEnumType, Resolver } from "type-graphql";
import { variableUses } from "../../src/conversation/functions/variable-uses";
import { Drafts } from "../../src/assistants/versions/drafts";
import { Versions, type ChangedAssistant } from "../../src/assistants/versions/versions";
import type { ChangeKind, DocumentChange as Change } from "../../src/assistants/versions/differences";
import type { JsonObject } from "../../src/platform/json/json-object";
import { shownValue } from "../../src/platform/json/json-source";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Field, FieldResolver, Mutation, Query, Root } from "../core/decorators";
import { Node } from "../core/node";
import { Rule } from "../core/rules";
import { JSON_VALUE, JSONObject } from "../core/scalars";
import { Assistant } from "./assistants";

const NUMBER = "Number of the version, from 1.";
const ASSISTANT = "Id of the assistant.";
const NOTE = "Note about the version, at most 1,000 characters.";

@ObjectType({
  implements: Node,
  description:
    "State of an assistant after a change. Each change of the document, through either interface, creates a version. A version never changes, except for its note.",
  simpleResolvers: true,
})
export class AssistantVersion {
  @Field(() => ID, { description: "Id of the version: that of the assistant, a dot, and the number." })
  id!: string;
  @Field(() => Int, { description: NUMBER })
  number!: number;
  @Field(() => String, { nullable: true, description: "Note about the version; null without one." })
  note!: string | null;
  @Field({
    description:
      "Author of the change: `user:` followed by the user of a token, `key:` followed by the id of a key, `operator` or `system`.",
  })
  actor!: string;
  @Field({ description: "Time of the change." })
  createdAt!: Date;
  assistantId!: string;
}

@ObjectType({ description: "Variable that the texts of an assistant use.", simpleResolvers: true })
export class VariableUse {
  @Field({ description: "Name, as in the braces." })
  name!: string;
  @Field(() => [String], {
    description:
      "Places of the texts in the document: keys and indexes, joined by dots, such as `chat.prompt` or `voice.functions.0.description`.",
  })
  used!: readonly string[];
  @Field({
    description:
      "Whether the document has a value for it in `variables`, other than null. A conversation may set others.",
  })
  hasValue!: boolean;
}

const CHANGE_KINDS = { ADD: "ADD", REMOVE: "REMOVE", REPLACE: "REPLACE" } as const;
registerEnumType(CHANGE_KINDS, {
  name: "ChangeKind",
  description: "Kind of a difference between two documents.",
  valuesConfig: {
    ADD: {
      description: "The value exists only in the second document; in a list, it is inserted at `path`.",
    },
    REMOVE: { description: "The value exists only in the first document." },
    REPLACE: { description: "The value differs." },
  },
});

@ObjectType({
  description:
    "Difference between two documents. All differences, applied in order like a JSON Patch, turn the first document into the second.",
  simpleResolvers: true,
})
export class DocumentChange implements Change {
  @Field(() => CHANGE_KINDS, { description: "Kind of the difference." })
  kind!: ChangeKind;
  @Field({ description: "Location of the value, as a JSON Pointer such as `/chat/prompt`." })
  path!: string;
  @Field(() => JSON_VALUE, { nullable: true, description: "Value in the first document; null for ADD." })
  before!: unknown;
  @Field(() => JSON_VALUE, { nullable: true, description: "Value in the second document; null for REMOVE." })
  after!: unknown;
}

/** Of notes, in characters. */
export const MAX_NOTE_LENGTH = 1_000;

@ArgsType()
class VersionArgs {
  @Field(() => ID, { description: ASSISTANT })
  assistantId!: string;
  @Rule({ minimum: 1 })
  @Field(() => Int, { description: NUMBER })
  number!: number;
}

@ArgsType()
class RestoreArgs extends VersionArgs {
  @Rule({ maxLength: MAX_NOTE_LENGTH })
  @Field(() => String, {
    nullable: true,
    description: `${NOTE} Default: "Restored version" and the number.`,
  })
  note?: string | null;
}

@ArgsType()
class DescribeArgs extends VersionArgs {
  @Rule({ maxLength: MAX_NOTE_LENGTH })
  @Field({ description: NOTE })
  note!: string;
}

@ArgsType()
class DiffArgs {
  @Field(() => ID, { description: ASSISTANT })
  assistantId!: string;
  @Rule({ minimum: 1 })
  @Field(() => Int, { description: "Number of the first version." })
  from!: number;
  @Rule({ minimum: 1 })
  @Field(() => Int, { nullable: true, description: "Number of the second version. Default: the draft." })
  to?: number | null;
}

const AssistantVersionConnection = ConnectionOf(() => AssistantVersion, "AssistantVersion");

@Resolver(() => AssistantVersion)
export class AssistantVersionResolver {
  @FieldResolver(() => JSONObject, {
    description:
      'Everything that the version contains: name, description, variables, the configurations, `rag` with the retrieval settings of each channel, allowed origins and the ids of the attached files. A secret of a function is shown as `{"stored": true}`.',
  })
  async document(@Root() version: AssistantVersion, @Ctx() { scope }: Context) {
    return shownValue<JsonObject>({ ...(await scope.of(Versions).document(version)) });
  }

  @FieldResolver(() => [VariableUse], {
    description:
      "Variables in the greetings, prompts and functions of the version, by name. Other texts are not filled in.",
  })
  async variables(@Root() version: AssistantVersion, @Ctx() { scope }: Context) {
    return variableUses(scope, await scope.of(Versions).document(version));
  }
}

@Resolver(() => Assistant)
export class VersionedAssistantResolver {
  @FieldResolver(() => AssistantVersion, {
    description: "The current version. A template is its own version 1.",
  })
  version(@Root() assistant: Assistant & Partial<ChangedAssistant>, @Ctx() { scope }: Context) {
    return assistant.version ?? scope.of(Versions).current(assistant);
  }

  @FieldResolver(() => AssistantVersionConnection, { description: "Versions, newest first by default." })
  versions(@Root() assistant: Assistant, @Args() args: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(Versions).list(assistant, args);
  }

  @Query(() => AssistantVersion, {
    description: "Returns a version of an assistant. Errors: ASSISTANT_NOT_FOUND, VERSION_NOT_FOUND.",
  })
  assistantVersion(@Args() { assistantId, number }: VersionArgs, @Ctx() { scope }: Context) {
    return scope.of(Versions).byNumber(assistantId, number);
  }

  @Query(() => [DocumentChange], {
    description:
      "Compares two versions of an assistant, or a version with the draft. Errors: ASSISTANT_NOT_FOUND, VERSION_NOT_FOUND, DRAFT_NOT_FOUND.",
  })
  async assistantDiff(@Args() { assistantId, from, to }: DiffArgs, @Ctx() { scope }: Context) {
    const changes =
      to == null
        ? await scope.of(Drafts).difference(assistantId, from)
        : await scope.of(Versions).difference(assistantId, from, to);
    return changes.map(({ before, after, ...change }) => ({
      ...change,
      before: shownValue(before),
      after: shownValue(after),
    }));
  }

  @Mutation(() => Assistant, {
    description:
      "Creates a version with the document of an earlier one, unless nothing differs. Secrets of functions stay as they are now, and deleted files are left out, with a warning. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, VERSION_NOT_FOUND.",
  })
  restoreAssistantVersion(@Args() { assistantId, number, note }: RestoreArgs, @Ctx() { scope }: Context) {
    return scope.of(Versions).restore(assistantId, number, note);
  }

  @Mutation(() => AssistantVersion, {
    description:
      "Sets the note of a version; an empty one removes it. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, VERSION_NOT_FOUND.",
  })
  describeAssistantVersion(@Args() { assistantId, number, note }: DescribeArgs, @Ctx() { scope }: Context) {
    return scope.of(Versions).describe(assistantId, number, note);
  }
}
