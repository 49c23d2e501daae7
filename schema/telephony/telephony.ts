import { Arg, Args, Ctx, ID, InputType, ObjectType, Resolver } from "type-graphql";
import { TelephonyConnections } from "../../src/assistants/telephony/telephony-connections";
import { Assistant, Deleted } from "../assistants/assistants";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Query, Root } from "../core/decorators";
import { Rule } from "../core/rules";

const SID = { nullable: false, minLength: 1, maxLength: 64 } as const;
const TOKEN = { nullable: false, minLength: 1, maxLength: 200 } as const;
const ASSISTANTS = { nullable: false, maxItems: 50 } as const;
const DESCRIPTIONS = {
  accountSid: "SID of the account at the telephony provider: AC and 32 hexadecimal digits.",
  authToken: "Auth token of the account, 1 to 200 characters. It is stored encrypted and never shown again.",
  messagingServiceSid:
    "SID of the messaging service that sends the number's SMS: MG and 32 hexadecimal digits. Default: none; SMS are then sent from the number itself.",
  assistantIds:
    "Ids of the assistants that answer SMS to the number, at most 50. An assistant answers if the text contains one of its keywords, else the first one does.",
} as const;

@ObjectType({
  implements: Node,
  description: "Connected telephone number: your own number at the telephony provider, for calls and SMS.",
  simpleResolvers: true,
})
export class TelephonyConnection {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field({ description: "Telephone number, in E.164 format." })
  phoneNumber!: string;
  @Field({ description: DESCRIPTIONS.accountSid })
  accountSid!: string;
  @Field(() => String, { nullable: true, description: DESCRIPTIONS.messagingServiceSid })
  messagingServiceSid!: string | null;
  @Field({ description: "Last 4 characters of the auth token." })
  authTokenHint!: string;
  @Field({ description: "Request URL to enter at the telephony provider for inbound SMS, with method POST." })
  interceptSmsUrl!: string;
  @Field({ description: "Time when the number was connected." })
  createdAt!: Date;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
}

@InputType({
  description:
    "Changes to a connected number. Omitted fields stay unchanged; null removes the messaging service.",
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

@InputType({ description: "Telephone number to connect." })
export class ConnectTelephonyInput extends UpdateTelephonyConnectionInput {
  @Rule({ minLength: 1, maxLength: 40 })
  @Field({ description: "Telephone number in E.164 format, for example +14155550132." })
  phoneNumber!: string;
  @Rule(SID)
  @Field({ description: DESCRIPTIONS.accountSid })
  declare accountSid: string;
  @Rule(TOKEN)
  @Field({ description: DESCRIPTIONS.authToken })
  declare authToken: string;
}

const TelephonyConnectionConnection = ConnectionOf(() => TelephonyConnection, "TelephonyConnection");

@Resolver(() => TelephonyConnection)
export class TelephonyResolver {
  @Query(() => [TelephonyConnection], { description: "Lists the connected numbers, oldest first." })
  telephonyConnections(@Ctx() { scope }: Context) {
    return scope.of(TelephonyConnections).list();
  }

  @Query(() => TelephonyConnectionConnection, {
    description: "Lists the connected numbers, in pages.",
  })
  telephonyConnectionsConnection(@Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(TelephonyConnections).connection(query);
  }

  @Query(() => TelephonyConnection, {
    description: "Returns a connected number. Errors: TELEPHONY_CONNECTION_NOT_FOUND.",
  })
  telephonyConnection(
    @Arg("id", () => ID, { description: "Id of the connection." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(TelephonyConnections).byId(id);
  }

  @Mutation(() => TelephonyConnection, {
    description:
      "Connects a number after verifying account, auth token, number and messaging service with the telephony provider. An invalid value gives a BAD_USER_INPUT that names it. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, CONFLICT, UNAVAILABLE.",
  })
  connectTelephony(
    @Arg("input", { description: "Number and account." }) input: ConnectTelephonyInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(TelephonyConnections).connect(input);
  }

  @Mutation(() => TelephonyConnection, {
    description:
      "Updates a connected number: its account, verified as in connectTelephony, or the assistants that answer SMS. Errors: TELEPHONY_CONNECTION_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, UNAVAILABLE.",
  })
  updateTelephonyConnection(
    @Arg("id", () => ID, { description: "Id of the connection." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateTelephonyConnectionInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(TelephonyConnections).update(id, input);
  }

  @Mutation(() => Deleted, {
    description:
      "Deletes a connected number and its auth token. Nothing changes at the telephony provider. Errors: TELEPHONY_CONNECTION_NOT_FOUND.",
  })
  disconnectTelephony(
    @Arg("id", () => ID, { description: "Id of the connection." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(TelephonyConnections).disconnect(id);
  }

  @FieldResolver(() => [Assistant], {
    description: "Assistants that answer SMS to the number. The first one answers if no keyword matches.",
  })
  assistants(@Root() { id }: TelephonyConnection, @Ctx() { scope }: Context) {
    return scope.of(TelephonyConnections).assistants(id);
  }
}
