import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from "type-graphql";
import { Chats } from "../src/chats/chats/chats";
import { EndUsers } from "../src/chats/chats/end-users";
import { ModelCredentials } from "../src/account/organization/model-credentials";
import { testFunction } from "../src/conversation/functions/test-function";
import { Chat, ChatConnection } from "./chats";
import { ConnectionArgs } from "./connection";
import type { Context } from "./context";
import { Deadline } from "./deadline";
import { Channel, TextProvider } from "./enums";
import { Rule } from "./rules";
import { JSONObject } from "./scalars";

@ObjectType({ description: "What an organization uses for a vendor of text models.", simpleResolvers: true })
export class ModelCredential {
  @Field(() => TextProvider, { description: "The vendor." })
  provider!: string;
  @Field(() => String, { nullable: true, description: "The end of the key, to recognize it by." })
  keyHint!: string | null;
  @Field(() => String, { nullable: true, description: "Address that is asked instead of the vendor's own." })
  baseUrl!: string | null;
  @Field({ description: "When it was set." })
  updatedAt!: Date;
}

@InputType({
  description: "What to use for a vendor. With neither key nor address the organization's own is forgotten.",
})
export class ModelCredentialInput {
  @Field(() => TextProvider, { description: "The vendor." })
  provider!: string;
  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String, { nullable: true, description: "The key; stored encrypted and never shown again." })
  apiKey?: string | null;
  @Rule({ minLength: 1, maxLength: 2048 })
  @Field(() => String, {
    nullable: true,
    description: "An http or https address that speaks the vendor's protocol.",
  })
  baseUrl?: string | null;
}

@ObjectType({ description: "Something an assistant remembers of a person.", simpleResolvers: true })
export class EndUserFact {
  @Field({ description: "The fact, in a sentence." })
  text!: string;
  @Field(() => ID, { description: "The assistant that keeps it." })
  assistantId!: string;
  @Field({ description: "When it was kept, ISO 8601." })
  createdAt!: string;
}

@ObjectType({ description: "A person whom assistants remember.", simpleResolvers: true })
export class EndUser {
  @Field(() => ID, { description: "Opaque." })
  id!: string;
  @Field({ description: "Your id of the person." })
  uniqueId!: string;
  @Field(() => [EndUserFact], { description: "What is known, the oldest first." })
  facts!: EndUserFact[];
}

@ObjectType({ description: "How a function answered in a test.", simpleResolvers: true })
export class FunctionTest {
  @Field(() => JSONObject, {
    nullable: true,
    description: "What was sent: {url, body}; null when nothing was.",
  })
  request!: Record<string, unknown> | null;
  @Field(() => Int, { nullable: true, description: "HTTP status of the answer." })
  status!: number | null;
  @Field({ description: "What the model would be told." })
  response!: string;
  @Field({ description: "Whether it failed." })
  failed!: boolean;
  @Field(() => Int, { description: "How long it took, in milliseconds." })
  durationMs!: number;
}

@ArgsType()
class TestFunctionArgs {
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Field(() => Channel, { description: "The channel whose configuration has the function." })
  channel!: "VOICE" | "TEXT" | "SMS";
  @Field({ description: "Name of the function." })
  name!: string;
  @Field(() => JSONObject, { description: "Its arguments." })
  arguments!: Record<string, unknown>;
}

@Resolver(() => EndUser)
export class EndUserResolver {
  @FieldResolver(() => ChatConnection, { description: "The person's chats, the newest first." })
  chats(@Root() { uniqueId }: EndUser, @Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(Chats).where({ uniqueId }, query);
  }
}

@Resolver(() => Chat)
export class ChatUserResolver {
  @FieldResolver(() => EndUser, {
    nullable: true,
    description: "The person whom the assistant remembers, where the chat was started with a uniqueId.",
  })
  user(@Root() { uniqueId }: Chat, @Ctx() { scope }: Context) {
    return uniqueId === null ? null : scope.of(EndUsers).find(uniqueId);
  }
}

@Resolver()
export class ConversationResolver {
  @Query(() => [ModelCredential], { description: "What the organization uses for vendors of text models." })
  modelCredentials(@Ctx() { scope }: Context) {
    return scope.of(ModelCredentials).list();
  }

  @Mutation(() => ModelCredential, {
    description: "Sets the organization's own key or address for a vendor.",
  })
  setModelCredential(
    @Arg("input", { description: "What to use." }) { provider, apiKey, baseUrl }: ModelCredentialInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(ModelCredentials).set(provider, apiKey ?? null, baseUrl ?? null);
  }

  @Deadline(25_000)
  @Mutation(() => FunctionTest, {
    description:
      "Calls a function of a configuration as a model would. Errors: ASSISTANT_NOT_FOUND, FUNCTION_NOT_FOUND.",
  })
  testFunction(@Args() args: TestFunctionArgs, @Ctx() { scope }: Context) {
    return testFunction(scope, args);
  }

  @Query(() => EndUser, {
    nullable: true,
    description: "What assistants remember of a person; null where nobody has met them.",
  })
  endUser(
    @Arg("uniqueId", { description: "Your id of the person." }) uniqueId: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(EndUsers).find(uniqueId);
  }

  @Mutation(() => String, {
    description: "The organization's identity secret: HMAC with SHA-256 under it signs a uniqueId.",
  })
  identitySecret(@Ctx() { scope }: Context) {
    return scope.of(EndUsers).identitySecret();
  }
}
