import { ArgsType, Field, ID, InputType } from "type-graphql";
import type { Callee } from "../../src/channels/calls/place-call";
import { ConnectionArgs } from "../core/connection";
import { NotNull } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { withFields, type Fields } from "../core/with-fields";

const ID_RULE = { nullable: false, maxLength: 4096 } as const;

/** Fields of every call, by name: rule, description and type. */
const CALL_FIELDS = {
  externalId: [
    ID_RULE,
    "Your id for the call, to find it by; at most 4,096 characters. An empty string counts as none.",
    () => String,
  ],
  metadata: [
    { nullable: false },
    "Metadata to store with the call; its log returns it as customerMetadata.",
    () => JSONObject,
  ],
  variables: [
    { nullable: false },
    "Values of variables, by name; they take precedence over the assistant's.",
    () => JSONObject,
  ],
} as const satisfies Fields;

/** Fields of a call to a telephone. */
const PHONE_FIELDS = {
  ...CALL_FIELDS,
  phoneNumber: [
    { nullable: false, minLength: 1, maxLength: 40 },
    "Telephone number to call, in E.164 format: + and 2 to 15 digits. Emergency, short and premium-rate numbers are refused, and so are numbers of countries that the server does not allow.",
    () => String,
    "required",
  ],
  userName: [
    ID_RULE,
    "Name of the end user, at most 4,096 characters; it becomes the log's label. An empty string counts as none.",
    () => String,
  ],
  userId: [
    ID_RULE,
    "Your id for the end user, by which the assistant remembers them; at most 4,096 characters. An empty string counts as none.",
    () => String,
  ],
  anonymousId: [
    ID_RULE,
    "Your id for an end user without userId; at most 4,096 characters. An empty string counts as none.",
    () => String,
  ],
} as const satisfies Fields;

/** Types of the fields above: TypeScript does not see fields that a decorator adds. */
abstract class CallFields implements Callee {
  externalId?: string;
  metadata?: Record<string, unknown>;
  variables?: Record<string, unknown>;
}
abstract class PhoneFields extends CallFields {
  phoneNumber!: string;
  userName?: string;
  userId?: string;
  anonymousId?: string;
}

@withFields(PHONE_FIELDS)
@InputType({ description: "Telephone call with an assistant." })
export class PlaceAssistantCallInput extends PhoneFields {
  @Field(() => ID, { description: "Id of the assistant that speaks." })
  assistantId!: string;
}

@withFields(PHONE_FIELDS)
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

@withFields(CALL_FIELDS)
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
  @NotNull
  @Field({ nullable: true, description: "Only calls with this status." })
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
