import { ID, InputType, Int } from "type-graphql";
import type { JsonObject } from "../../src/platform/json/json-object";
import { CallKind } from "../calls/calls";
import { Field } from "../core/decorators";
import { Channel, MessageRole } from "../core/enums";
import { Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";

const IDENTIFIER = { maxLength: 4096 } as const;

@InputType({ description: "Message of an imported log." })
export class ImportMessageInput {
  @Field(() => ID, {
    nullable: true,
    description: "Id to keep. A new one is assigned by default, and if the id is not a UUID or is in use.",
  })
  id?: string | null;
  @Field(() => MessageRole, { description: "Author of the message." })
  role!: "ASSISTANT" | "TOOL" | "USER" | "SYSTEM";
  @Field(() => Channel, { nullable: true, description: "Channel of the message. Default: that of the log." })
  channel?: "VOICE" | "TEXT" | "SMS" | null;
  @Field(() => String, { nullable: true, description: "Text, at most 1 MiB." })
  content?: string | null;
  @Field(() => JSONObject, {
    nullable: true,
    description: "Metadata to store with the message. Default: {}.",
  })
  metadata?: JsonObject | null;
  @Rule({ maxLength: 255 })
  @Field(() => String, { nullable: true, description: "Id of the tool call whose result it is." })
  toolCallId?: string | null;
  @Field(() => [JSONObject], { nullable: true, description: "Calls of tools that the assistant made." })
  toolCalls?: JsonObject[] | null;
  @Field(() => Date, { nullable: true, description: "Time of the message. Default: that of the log." })
  createdAt?: Date | null;
}

@InputType({ description: "Error in a conversation of an imported log." })
export class ImportErrorInput {
  @Field({ description: "Time of the error." })
  at!: Date;
  @Field({ description: "Message of the error, at most 1 MiB." })
  message!: string;
}

@InputType({ description: "Call of an imported log." })
export class ImportCallInput {
  @Field(() => CallKind, { description: "Kind of the call." })
  kind!: "PHONE" | "WEB";
  @Field(() => Date, {
    nullable: true,
    description: "Time when the call was placed. Default: that of the log.",
  })
  createdAt?: Date | null;
  @Field(() => Date, { nullable: true, description: "Time when the voice engine started to dial." })
  dialedAt?: Date | null;
  @Field(() => Date, { nullable: true, description: "Time when the call was answered." })
  answeredAt?: Date | null;
}

@InputType({ description: "Version of an assistant that spoke in an imported log." })
export class ImportLogVersionInput {
  @Rule({ maxLength: 255 })
  @Field(() => ID, { description: "Id of the assistant, which may be deleted." })
  assistantId!: string;
  @Rule({ minimum: 1 })
  @Field(() => Int, { description: "Number of the version, from 1; it may have been removed." })
  number!: number;
}

@InputType({ description: "Log of another service, of a conversation that has ended." })
export class ImportLogInput {
  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => ID, { description: "Id to keep, of any form; 1 to 255 characters." })
  id!: string;
  @Field(() => Channel, { description: "Channel of the conversation." })
  type!: "VOICE" | "TEXT" | "SMS";
  @Field({ description: "Time when the conversation started." })
  createdAt!: Date;
  @Rule(IDENTIFIER)
  @Field(() => String, {
    nullable: true,
    description: "Label, at most 4,096 characters. Default: the phone number or the first words.",
  })
  label?: string | null;
  @Field(() => Date, {
    nullable: true,
    description: "Time of the end, not before createdAt. Default: that of the last message.",
  })
  endedAt?: Date | null;
  @Rule({ maxLength: 255 })
  @Field(() => String, {
    nullable: true,
    description: "Reason of the end, at most 255 characters. Default: imported.",
  })
  endedReason?: string | null;
  @Rule(IDENTIFIER)
  @Field(() => String, { nullable: true, description: "URL of the recording." })
  recordingUrl?: string | null;
  @Field(() => ImportCallInput, {
    nullable: true,
    description:
      "Call record of the conversation; only with type VOICE. Default: none; the log is stored without a call.",
  })
  call?: ImportCallInput | null;
  @Rule({ maxLength: 255 })
  @Field(() => String, { nullable: true, description: "Phone number of the person." })
  phoneNumber?: string | null;
  @Rule(IDENTIFIER)
  @Field(() => String, { nullable: true, description: "Name of the person." })
  userName?: string | null;
  @Rule(IDENTIFIER)
  @Field(() => String, { nullable: true, description: "Client's id for the person." })
  userId?: string | null;
  @Rule(IDENTIFIER)
  @Field(() => String, { nullable: true, description: "Client's id for a person without an account." })
  anonymousId?: string | null;
  @Rule(IDENTIFIER)
  @Field(() => String, { nullable: true, description: "Client's id for the conversation." })
  externalId?: string | null;
  @Rule(IDENTIFIER)
  @Field(() => String, {
    nullable: true,
    description:
      "Id by which the assistant remembers the person. Default: none or, with a phone number, userId, else anonymousId.",
  })
  uniqueId?: string | null;
  @Field(() => JSONObject, { nullable: true, description: "Metadata supplied by the client. Default: {}." })
  metadata?: JsonObject | null;
  @Field(() => JSONObject, {
    nullable: true,
    description: "Variables of the conversation, as `Chat.variables`. Default: {}.",
  })
  variables?: JsonObject | null;
  @Rule({ maxLength: 255 })
  @Field(() => ID, { nullable: true, description: "Id of the workflow that ran, which may be deleted." })
  workflowId?: string | null;
  @Rule({ maxLength: 255 })
  @Field(() => ID, {
    nullable: true,
    description: "Id of the workflow's node at the end, which may be deleted.",
  })
  workflowNodeId?: string | null;
  @Rule({ maxLength: 255 })
  @Field(() => ID, {
    nullable: true,
    description: "Id of the deployment through which the person reached the assistant; it may be deleted.",
  })
  deploymentId?: string | null;
  @Rule({ minimum: 1 })
  @Field(() => Int, {
    nullable: true,
    description:
      "Number of the version of the assistant that answered, from 1; it may have been removed. Default: none.",
  })
  assistantVersion?: number | null;
  @Rule({ maxItems: 1_000 })
  @Field(() => [ImportLogVersionInput], {
    nullable: true,
    description:
      "Versions of all assistants of the workflow, as `Chat.versions`. Default: only `assistantVersion`.",
  })
  versions?: ImportLogVersionInput[] | null;
  @Field(() => Boolean, {
    nullable: true,
    description: "Whether a draft answered that was based on this version. Default: false.",
  })
  draft?: boolean | null;
  @Field(() => [ImportErrorInput], { nullable: true, description: "Errors in turns of the assistant." })
  errors?: ImportErrorInput[] | null;
  @Rule({ maxItems: 10_000 })
  @Field(() => [ImportMessageInput], { description: "Messages in their order, at most 10,000." })
  messages!: ImportMessageInput[];
}
