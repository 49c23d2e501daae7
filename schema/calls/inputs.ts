import { ArgsType, ID, InputType, Int } from "type-graphql";
import type { Callee } from "../../src/channels/calls/place-call";
import { STATUSES } from "../../src/chats/chats/chats";
import { ConnectionArgs } from "../core/connection";
import { VARIABLES } from "../configurations/texts";
import { Field } from "../core/decorators";
import { NotNull, oneOf, Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";

const ID_RULE = { nullable: false, maxLength: 4096 } as const;

@InputType()
abstract class CallFields implements Callee {
  @Rule(ID_RULE)
  @Field({
    nullable: true,
    description:
      "Your id for the call, to find it by; at most 4,096 characters. An empty string counts as none.",
  })
  externalId?: string;
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description: "Metadata to store with the call; its log returns it as customerMetadata.",
  })
  metadata?: Record<string, unknown>;
  @NotNull
  @Field(() => JSONObject, {
    nullable: true,
    description: VARIABLES,
  })
  variables?: Record<string, unknown>;
}

@InputType()
abstract class PhoneFields extends CallFields {
  @Rule({ nullable: false, minLength: 1, maxLength: 40 })
  @Field({
    description:
      "Telephone number to call, in E.164 format: + and 2 to 15 digits. Emergency, short and premium-rate numbers are refused, and so are numbers of countries that the server does not allow.",
  })
  phoneNumber!: string;
  @Rule(ID_RULE)
  @Field({
    nullable: true,
    description:
      "Name of the end user, at most 4,096 characters; it becomes the log's label. An empty string counts as none.",
  })
  userName?: string;
  @Rule(ID_RULE)
  @Field({
    nullable: true,
    description:
      "Your id for the end user, by which the assistant remembers them; at most 4,096 characters. An empty string counts as none.",
  })
  userId?: string;
  @Rule(ID_RULE)
  @Field({
    nullable: true,
    description:
      "Your id for an end user without userId; at most 4,096 characters. An empty string counts as none.",
  })
  anonymousId?: string;
}

@InputType({ description: "Telephone call with an assistant." })
export class PlaceAssistantCallInput extends PhoneFields {
  @Field(() => ID, { description: "Id of the assistant that speaks." })
  assistantId!: string;
  @Rule({ nullable: false, minimum: 1, "x-extension": true })
  @Field(() => Int, {
    nullable: true,
    description: "Number of the version of the assistant that speaks, from 1. Default: the current one.",
  })
  assistantVersion?: number;
  @Rule({ nullable: false, "x-extension": true })
  @Field({
    nullable: true,
    description: "Whether the assistant's draft speaks, as it is now. Default: false.",
  })
  draft?: boolean;
}

@InputType({
  description: "Telephone call with either a workflow or a deployment.",
})
export class PlaceWorkflowCallInput extends PhoneFields {
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the workflow to run." })
  workflowId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the deployment to use." })
  deploymentId?: string;
}

@InputType({ description: "Call from a web page with either an assistant or a workflow." })
export class StartWebCallInput extends CallFields {
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the assistant that speaks." })
  assistantId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the workflow to run." })
  workflowId?: string;
}

@InputType({ description: "Conditions for calls; all must hold." })
export class CallFilter {
  @Rule({ nullable: false, enum: STATUSES })
  @Field({ nullable: true, description: `Only calls with this status: ${oneOf(STATUSES)}.` })
  status?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Only calls with this assistant." })
  assistantId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Only calls that run this workflow." })
  workflowId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Only calls placed with this deployment." })
  deploymentId?: string;
  @NotNull
  @Field({ nullable: true, description: "Only calls to this telephone number, in E.164 format." })
  phoneNumber?: string;
  @NotNull
  @Field({ nullable: true, description: "Only calls with this externalId." })
  externalId?: string;
  @NotNull
  @Field({ nullable: true, description: "Only calls with this userId." })
  userId?: string;
  @NotNull
  @Field({ nullable: true, description: "Start of the period in which the calls were placed (inclusive)." })
  from?: Date;
  @NotNull
  @Field({ nullable: true, description: "End of the period in which the calls were placed (exclusive)." })
  to?: Date;
}

@ArgsType()
export class CallsArgs extends ConnectionArgs {
  @NotNull
  @Field(() => CallFilter, { nullable: true, description: "Filter. Default: all calls." })
  filter?: CallFilter;
}
