import { ArgsType, Field, ID, InputType } from "type-graphql";
import type { Callee } from "../../src/channels/calls/place-call";
import { ConnectionArgs } from "../core/connection";
import { NotNull } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { withFields, type Fields } from "../core/with-fields";

const ID_RULE = { nullable: false, maxLength: 4096 } as const;

/** The fields that every call has, by name: their rule, description and type. */
const CALL_FIELDS = {
  externalId: [
    ID_RULE,
    "Your own id of this call, to find it by; at most 4,096 characters, an empty text counts as none.",
    () => String,
  ],
  metadata: [
    { nullable: false },
    "Anything to keep with the call; its log returns it in customerMetadata.",
    () => JSONObject,
  ],
  variables: [
    { nullable: false },
    "Values of variables, by name; they come before the assistant's own.",
    () => JSONObject,
  ],
} as const satisfies Fields;

/** Those of a call to a telephone. */
const PHONE_FIELDS = {
  ...CALL_FIELDS,
  phoneNumber: [
    { nullable: false, minLength: 1, maxLength: 40 },
    "Who is called, in E.164 form: + and 2 to 15 digits. Emergency, short and premium-rate numbers are refused, and those of countries that the server does not allow.",
    () => String,
    "required",
  ],
  userName: [
    ID_RULE,
    "Name of the person, at most 4,096 characters; it becomes the log's label. An empty text counts as none.",
    () => String,
  ],
  userId: [
    ID_RULE,
    "Your own id of the person, under whom the assistant remembers; at most 4,096 characters, an empty text counts as none.",
    () => String,
  ],
  anonymousId: [
    ID_RULE,
    "Stands in for userId where you have none; at most 4,096 characters, an empty text counts as none.",
    () => String,
  ],
} as const satisfies Fields;

/** The same for TypeScript. */
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
@InputType({ description: "A telephone call with an assistant." })
export class PlaceAssistantCallInput extends PhoneFields {
  @Field(() => ID, { description: "The assistant that speaks." })
  assistantId!: string;
}

@withFields(PHONE_FIELDS)
@InputType({
  description: "A telephone call with a workflow, or with what a deployment says: one of the two.",
})
export class PlaceWorkflowCallInput extends PhoneFields {
  @NotNull
  @Field(() => ID, { nullable: true, description: "The workflow to run." })
  workflowId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "The deployment to call with." })
  deploymentId?: string;
}

@withFields(CALL_FIELDS)
@InputType({ description: "A call from a web page: with an assistant or with a workflow." })
export class StartWebCallInput extends CallFields {
  @NotNull
  @Field(() => ID, { nullable: true, description: "The assistant that speaks." })
  assistantId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "The workflow to run." })
  workflowId?: string;
}

@InputType({ description: "Which calls are wanted." })
export class CallFilter {
  @NotNull
  @Field({ nullable: true, description: "With this status." })
  status?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "With this assistant." })
  assistantId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "That run this workflow." })
  workflowId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: "Placed with this deployment." })
  deploymentId?: string;
  @NotNull
  @Field({ nullable: true, description: "To this number, in E.164 form." })
  phoneNumber?: string;
  @NotNull
  @Field({ nullable: true, description: "With this id of yours." })
  externalId?: string;
  @NotNull
  @Field({ nullable: true, description: "With this person." })
  userId?: string;
  @NotNull
  @Field({ nullable: true, description: "Placed at or after this moment." })
  from?: Date;
  @NotNull
  @Field({ nullable: true, description: "Placed before this moment." })
  to?: Date;
}

@ArgsType()
export class CallsArgs extends ConnectionArgs {
  @NotNull
  @Field(() => CallFilter, { nullable: true, description: "Which calls are wanted; all without it." })
  filter?: CallFilter;
}
