import { Arg, Args, Ctx, Extensions, ID, ObjectType, registerEnumType, Resolver } from "type-graphql";
import { speaksForOrganization } from "../../src/account/auth/caller";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { callEvents } from "../../src/channels/calls/call-events";
import { Calls } from "../../src/channels/calls/calls";
import { placeCall } from "../../src/channels/calls/place-call";
import { startWebCall } from "../../src/channels/calls/web-call";
import { Chats } from "../../src/chats/chats/chats";
import { targetOf } from "../../src/conversation/workflows/target";
import { Assistant } from "../assistants/assistants";
import { CallsArgs, PlaceAssistantCallInput, PlaceWorkflowCallInput, StartWebCallInput } from "./inputs";
import { Chat } from "../chats/chats";
import { ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Field, FieldResolver, Mutation, Query, Root, Subscription } from "../core/decorators";
import { JSONObject } from "../core/scalars";

export const CallKind = { PHONE: "PHONE", WEB: "WEB" };
registerEnumType(CallKind, {
  name: "CallKind",
  description: "Kind of a call.",
  valuesConfig: {
    PHONE: { description: "Call to a telephone." },
    WEB: { description: "Call from a web page." },
  },
});

/** Marks an operation that dials: a request may contain only one. */
const Dials = Extensions({ dials: true });

@ObjectType({
  description: "Telephone call or call from a web page. Its chat and its log have the same id.",
  simpleResolvers: true,
})
export class Call {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field(() => CallKind, { description: "Kind of the call." })
  kind!: string;
  @Field({ description: "Status: queued, ringing, in-progress, forwarding or ended. It only moves forward." })
  status!: string;
  @Field(() => String, {
    nullable: true,
    description: "Telephone number called, in E.164 format; null for a call from a web page.",
  })
  phoneNumber!: string | null;
  @Field({
    description: "Name or telephone number of the end user, else the first words of the conversation.",
  })
  label!: string;
  @Field(() => String, { nullable: true, description: "Name of the end user." })
  userName!: string | null;
  @Field(() => String, { nullable: true, description: "Your id for the end user." })
  userId!: string | null;
  @Field(() => String, { nullable: true, description: "Your id for an end user without userId." })
  anonymousId!: string | null;
  @Field(() => String, { nullable: true, description: "Your id for the call." })
  externalId!: string | null;
  @Field(() => JSONObject, { description: "Metadata supplied with the call." })
  metadata!: Record<string, unknown>;
  @Field(() => JSONObject, { description: "Values of variables supplied with the call, by name." })
  variables!: Record<string, unknown>;
  @Field(() => String, {
    nullable: true,
    description: "URL of the recording; null until there is one.",
  })
  recordingUrl!: string | null;
  @Field({ description: "Time when the call was placed." })
  createdAt!: Date;
  @Field(() => Date, {
    nullable: true,
    description: "Time when the voice engine started to dial; null until then.",
  })
  dialedAt!: Date | null;
  @Field(() => Date, { nullable: true, description: "Time when the call was answered; null until then." })
  answeredAt!: Date | null;
  @Field(() => Date, { nullable: true, description: "Time when the call ended; null until then." })
  endedAt!: Date | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Reason for the end: the reason given by the voice engine, the endReason of an END node, or cancelled, assistant-deleted, workflow-ended, workflow-deleted, workflow-stuck, call-start-failed, engine-unreachable, engine-lost-call, exceeded-max-duration; null until the call has ended.",
  })
  endedReason!: string | null;
  assistantId!: string;
  @Field(() => ID, {
    nullable: true,
    description: "Id of the workflow of the call, even if it has been deleted; null if there is none.",
  })
  workflowId!: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      "Id of the deployment that the call was placed with, even if it has been deleted; null if there is none.",
  })
  deploymentId!: string | null;
}

@ObjectType({ description: "Change of a call's status.", simpleResolvers: true })
export class CallEvent {
  @Field(() => ID, {
    description: "Id of the event status-changed. Pass it as `after` to resume the stream after this event.",
  })
  id!: string;
  @Field({ description: "New status." })
  status!: string;
  @Field(() => String, { nullable: true, description: "Reason for the end; null unless the call has ended." })
  endedReason!: string | null;
  @Field({ description: "Time of the change." })
  createdAt!: Date;
  @Field(() => Call, { description: "Current state of the call, which may be later than this event." })
  call!: Call;
}

@ObjectType({ description: "Call from a web page, to open in the browser.", simpleResolvers: true })
export class WebCall {
  @Field(() => ID, { description: "Id of the call, its chat and its log." })
  id!: string;
  @Field({ description: "Short-lived URL that opens the call in a browser. It needs no other credential." })
  webCallUrl!: string;
}

const CallConnection = ConnectionOf(() => Call, "Call");

@Resolver(() => Call)
export class CallResolver {
  @Query(() => CallConnection, { description: "Lists the organization's calls, newest first." })
  calls(@Args() { filter, ...query }: CallsArgs, @Ctx() { scope }: Context) {
    return scope.of(Calls).list(query, filter);
  }

  @Query(() => Call, { description: "Returns a call. Errors: CALL_NOT_FOUND." })
  call(@Arg("id", () => ID, { description: "Id of the call." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Calls).byId(id);
  }

  @Dials
  @Mutation(() => Call, {
    description:
      "Calls a telephone number with an assistant. Returns as soon as the call is queued; events report its progress. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, DRAFT_NOT_FOUND, QUOTA_EXCEEDED, MISSING_VARIABLES.",
  })
  placeAssistantCall(
    @Arg("input", { description: "Telephone number to call and assistant that speaks." })
    { assistantId, assistantVersion, draft, phoneNumber, ...callee }: PlaceAssistantCallInput,
    @Ctx() { scope }: Context,
  ) {
    const target = targetOf({ assistantId }, { assistantVersion, draft });
    return placeCall(scope, target, phoneNumber, callee);
  }

  @Dials
  @Mutation(() => Call, {
    description:
      "Calls a telephone number with a workflow or a deployment. Returns as soon as the call is queued; events report its progress. Errors: WORKFLOW_NOT_FOUND, DEPLOYMENT_NOT_FOUND, ASSISTANT_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, DEPLOYMENT_NOT_CALLABLE, QUOTA_EXCEEDED, MISSING_VARIABLES.",
  })
  placeWorkflowCall(
    @Arg("input", { description: "Telephone number to call and workflow or deployment to use." })
    { workflowId, deploymentId, phoneNumber, ...callee }: PlaceWorkflowCallInput,
    @Ctx() { scope }: Context,
  ) {
    return placeCall(scope, targetOf({ workflowId, deploymentId }), phoneNumber, callee);
  }

  @Dials
  @Mutation(() => WebCall, {
    description:
      "Creates a call from a web page and returns the URL that opens it in a browser. Errors: ASSISTANT_NOT_FOUND, WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, TEMPLATE_READ_ONLY, QUOTA_EXCEEDED, MISSING_VARIABLES, FORBIDDEN if the page's origin is not allowed, CHANNEL_DISABLED if the theme's mode is CHAT_ONLY, RATE_LIMITED, UNAVAILABLE.",
  })
  async startWebCall(
    @Arg("input", { description: "Assistant or workflow of the call." })
    { assistantId, workflowId, ...callee }: StartWebCallInput,
    @Ctx() { scope, caller, origin, spend }: Context,
  ) {
    spend("chat");
    const fromPage = !speaksForOrganization(caller!);
    const target = targetOf({ assistantId, workflowId });
    return startWebCall(scope, target, { ...callee, fromPage }, caller!.keyId!, origin);
  }

  @Mutation(() => Call, {
    description:
      "Ends a live call, including one that has not been dialed yet. Errors: CALL_NOT_FOUND, CHAT_ENDED.",
  })
  cancelCall(@Arg("id", () => ID, { description: "Id of the call." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Calls).cancel(id);
  }

  @Subscription(() => CallEvent, {
    description:
      "Streams changes of the status of all calls, or of one call until it ends, from now or after the given event. For the messages of a call use chatEvents. Errors: CALL_NOT_FOUND, EVENT_NOT_FOUND.",
    subscribe: ({ args, context }) => {
      const { fresh, scope } = context as Context;
      return callEvents(fresh, scope.ports.listener, args as { callId?: string; after?: string });
    },
  })
  callEvents(
    @Root() event: CallEvent,
    @Arg("callId", () => ID, { nullable: true, description: "Id of the call. Default: all calls." })
    _callId?: string,
    @Arg("after", () => ID, {
      nullable: true,
      description: "Id of the last event received. Default: only new events.",
    })
    _after?: string,
  ): CallEvent {
    return event;
  }

  @FieldResolver(() => Chat, { description: "Chat with the messages of the call." })
  chat(@Root() { id }: Call, @Ctx() { scope }: Context) {
    return scope.of(Chats).ofRecord(id);
  }

  @FieldResolver(() => Assistant, { description: "Assistant of the call, even if it has been deleted." })
  assistant(@Root() { assistantId }: Call, @Ctx() { scope }: Context) {
    return scope.of(Assistants).byIdIncludingDeleted(assistantId);
  }
}
