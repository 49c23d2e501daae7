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
import { TelephonyConnections } from "../../src/assistants/telephony/telephony-connections";
import { Assistant, Deleted } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Rule } from "../core/rules";

const SID = { nullable: false, minLength: 1, maxLength: 64 } as const;
const TOKEN = { nullable: false, minLength: 1, maxLength: 200 } as const;
const ASSISTANTS = { nullable: false, maxItems: 50 } as const;
const DESCRIPTIONS = {
  accountSid: "SID of the account at the provider: AC and 32 hexadecimal digits.",
  authToken: "Token of the account. It is kept encrypted, and never shown again.",
  messagingServiceSid:
    "SID of the messaging service that sends the number's SMS: MG and 32 hexadecimal digits. Without one they are sent from the number alone.",
  assistantIds:
    "Who answers SMS to the number, at most 50: the first one, and another where the text holds one of its keywords.",
} as const;

@ObjectType({
  description: "A telephone number of your own at the telephony provider, for calls and SMS.",
  simpleResolvers: true,
})
export class TelephonyConnection {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field({ description: "The number, in E.164 form." })
  phoneNumber!: string;
  @Field({ description: DESCRIPTIONS.accountSid })
  accountSid!: string;
  @Field(() => String, { nullable: true, description: DESCRIPTIONS.messagingServiceSid })
  messagingServiceSid!: string | null;
  @Field({ description: "The last 4 characters of the account's token." })
  authTokenHint!: string;
  @Field({ description: "The request URL to enter at the provider for SMS that come in, with POST." })
  interceptSmsUrl!: string;
  @Field({ description: "When it was connected." })
  createdAt!: Date;
  @Field({ description: "When it was last changed." })
  updatedAt!: Date;
}

@InputType({ description: "A number to connect." })
export class ConnectTelephonyInput {
  @Rule({ minLength: 1, maxLength: 40 })
  @Field({ description: "The number, in E.164 form, such as +14155550132." })
  phoneNumber!: string;
  @Rule(SID)
  @Field({ description: DESCRIPTIONS.accountSid })
  accountSid!: string;
  @Rule(TOKEN)
  @Field({ description: DESCRIPTIONS.authToken })
  authToken!: string;
  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true, description: DESCRIPTIONS.messagingServiceSid })
  messagingServiceSid?: string | null;
  @Rule(ASSISTANTS)
  @Field(() => [ID], { nullable: true, description: DESCRIPTIONS.assistantIds })
  assistantIds?: string[];
}

@InputType({
  description: "Changes to a connected number. What is left out stays; null removes the messaging service.",
})
export class UpdateTelephonyConnectionInput {
  @Rule(SID)
  @Field({ nullable: true, description: DESCRIPTIONS.accountSid })
  accountSid?: string;
  @Rule(TOKEN)
  @Field({ nullable: true, description: DESCRIPTIONS.authToken })
  authToken?: string;
  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, { nullable: true, description: DESCRIPTIONS.messagingServiceSid })
  messagingServiceSid?: string | null;
  @Rule(ASSISTANTS)
  @Field(() => [ID], { nullable: true, description: DESCRIPTIONS.assistantIds })
  assistantIds?: string[];
}

@Resolver(() => TelephonyConnection)
export class TelephonyResolver {
  @Query(() => [TelephonyConnection], { description: "The connected numbers, the oldest first." })
  telephonyConnections(@Ctx() { scope }: Context) {
    return scope.of(TelephonyConnections).list();
  }

  @Mutation(() => TelephonyConnection, {
    description:
      "Connects a number, after the provider was asked whether account, token, number and messaging service go together; a wrong one is a BAD_USER_INPUT that names it. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, CONFLICT, UNAVAILABLE.",
  })
  connectTelephony(
    @Arg("input", { description: "The number and its account." }) input: ConnectTelephonyInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(TelephonyConnections).connect(input);
  }

  @Mutation(() => TelephonyConnection, {
    description:
      "Changes the account of a connected number, checked as connectTelephony does, or who answers SMS to it. Errors: TELEPHONY_CONNECTION_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, UNAVAILABLE.",
  })
  updateTelephonyConnection(
    @Arg("id", () => ID, { description: "Id of the connection." }) id: string,
    @Arg("input", { description: "What to change." }) input: UpdateTelephonyConnectionInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(TelephonyConnections).update(id, input);
  }

  @Mutation(() => Deleted, {
    description:
      "Forgets a number and its token; at the provider nothing is changed. Errors: TELEPHONY_CONNECTION_NOT_FOUND.",
  })
  disconnectTelephony(
    @Arg("id", () => ID, { description: "Id of the connection." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(TelephonyConnections).disconnect(id);
  }

  @FieldResolver(() => [Assistant], {
    description: "Who answers SMS to the number, the one first that answers where no keyword is found.",
  })
  assistants(@Root() { id }: TelephonyConnection, @Ctx() { scope }: Context) {
    return scope.of(TelephonyConnections).assistants(id);
  }
}
