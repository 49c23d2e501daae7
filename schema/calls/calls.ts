import {
  Arg,
  Args,
  Ctx,
  Extensions,
  Field,
  FieldResolver,
  ID,
  Mutation,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
  Root,
  Subscription,
} from "type-graphql";
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
import { JSONObject } from "../core/scalars";

const CallKind = { PHONE: "PHONE", WEB: "WEB" };
registerEnumType(CallKind, {
  name: "CallKind",
  description: "How a call is made.",
  valuesConfig: {
    PHONE: { description: "To a telephone." },
    WEB: { description: "From a web page." },
  },
});

/** Of such operations a request may hold one. */
const Dials = Extensions({ dials: true });

@ObjectType({
  description: "A telephone call, or a call from a web page. Its id is its chat's and its log's.",
  simpleResolvers: true,
})
export class Call {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field(() => CallKind, { description: "How it is made." })
  kind!: string;
  @Field({ description: "queued, ringing, in-progress, forwarding or ended; it moves forward only." })
  status!: string;
  @Field(() => String, {
    nullable: true,
    description: "The number called, in E.164 form; null for a call from a web page.",
  })
  phoneNumber!: string | null;
  @Field({ description: "The person's name or number, else the first words said." })
  label!: string;
  @Field(() => String, { nullable: true, description: "Name of the person." })
  userName!: string | null;
  @Field(() => String, { nullable: true, description: "Your id of the person." })
  userId!: string | null;
  @Field(() => String, { nullable: true, description: "What stands in for userId." })
  anonymousId!: string | null;
  @Field(() => String, { nullable: true, description: "Your id of the call." })
  externalId!: string | null;
  @Field(() => JSONObject, { description: "What was passed with the call." })
  metadata!: Record<string, unknown>;
  @Field(() => JSONObject, { description: "Values of variables that were passed with the call." })
  variables!: Record<string, unknown>;
  @Field(() => String, {
    nullable: true,
    description: "Where its recording can be fetched, once there is one.",
  })
  recordingUrl!: string | null;
  @Field({ description: "When it was placed." })
  createdAt!: Date;
  @Field(() => Date, { nullable: true, description: "When the voice engine began to dial." })
  dialedAt!: Date | null;
  @Field(() => Date, { nullable: true, description: "When somebody answered." })
  answeredAt!: Date | null;
  @Field(() => Date, { nullable: true, description: "When it ended." })
  endedAt!: Date | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Why it ended: as the voice engine says it, as its workflow says it, or cancelled, assistant-deleted, workflow-ended, workflow-deleted, workflow-stuck, call-start-failed, engine-unreachable, engine-lost-call, exceeded-max-duration.",
  })
  endedReason!: string | null;
  assistantId!: string;
  workflowId!: string | null;
  deploymentId!: string | null;
}

@ObjectType({ description: "A change of a call's status.", simpleResolvers: true })
export class CallEvent {
  @Field(() => ID, { description: "Id of the event status-changed; resumes the stream behind it." })
  id!: string;
  @Field({ description: "The status that it changed to." })
  status!: string;
  @Field(() => String, { nullable: true, description: "Why it ended, where it did." })
  endedReason!: string | null;
  @Field({ description: "When it changed." })
  createdAt!: Date;
  @Field(() => Call, { description: "The call as it stands now, which may be further." })
  call!: Call;
}

@ObjectType({ description: "A call that a browser is to hold.", simpleResolvers: true })
export class WebCall {
  @Field(() => ID, { description: "Id of the call, its chat and its log." })
  id!: string;
  @Field({ description: "Where a browser holds it. Whoever has the address may: it is short-lived." })
  webCallUrl!: string;
}

const CallConnection = ConnectionOf(() => Call, "Call");

@Resolver(() => Call)
export class CallResolver {
  @Query(() => CallConnection, { description: "The calls of the organization, the newest first." })
  calls(@Args() { filter, ...query }: CallsArgs, @Ctx() { scope }: Context) {
    return scope.of(Calls).list(query, filter);
  }

  @Query(() => Call, { description: "One call. Errors: CALL_NOT_FOUND." })
  call(@Arg("id", () => ID, { description: "Id of the call." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Calls).byId(id);
  }

  @Dials
  @Mutation(() => Call, {
    description:
      "Calls a telephone number with an assistant. It is accepted at once; the rest is told by events. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, QUOTA_EXCEEDED.",
  })
  placeAssistantCall(
    @Arg("input", { description: "Who is called, and who speaks." })
    { assistantId, phoneNumber, ...callee }: PlaceAssistantCallInput,
    @Ctx() { scope }: Context,
  ) {
    return placeCall(scope, { assistantId }, phoneNumber, callee);
  }

  @Dials
  @Mutation(() => Call, {
    description:
      "Calls a telephone number with a workflow or a deployment. Errors: WORKFLOW_NOT_FOUND, DEPLOYMENT_NOT_FOUND, ASSISTANT_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, DEPLOYMENT_NOT_CALLABLE, QUOTA_EXCEEDED.",
  })
  placeWorkflowCall(
    @Arg("input", { description: "Who is called, and what runs." })
    { workflowId, deploymentId, phoneNumber, ...callee }: PlaceWorkflowCallInput,
    @Ctx() { scope }: Context,
  ) {
    return placeCall(scope, targetOf({ workflowId, deploymentId }), phoneNumber, callee);
  }

  @Dials
  @Mutation(() => WebCall, {
    description:
      "Opens a call that a browser holds. Errors: ASSISTANT_NOT_FOUND, WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, TEMPLATE_READ_ONLY, QUOTA_EXCEEDED, FORBIDDEN for a page of an origin that is not allowed, CHANNEL_DISABLED if the theme's mode is CHAT_ONLY, RATE_LIMITED, UNAVAILABLE.",
  })
  async startWebCall(
    @Arg("input", { description: "Who speaks." }) { assistantId, workflowId, ...callee }: StartWebCallInput,
    @Ctx() { scope, caller, origin, spend }: Context,
  ) {
    await spend("chat");
    return startWebCall(scope, targetOf({ assistantId, workflowId }), callee, caller!.keyId!, origin);
  }

  @Mutation(() => Call, {
    description: "Ends a live call, also one that is not dialled yet. Errors: CALL_NOT_FOUND, CHAT_ENDED.",
  })
  cancelCall(@Arg("id", () => ID, { description: "Id of the call." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Calls).cancel(id);
  }

  @Subscription(() => CallEvent, {
    description:
      "How the status of calls changes, of all or of one until it has ended, from now on or behind an event. What is said in a call is told by chatEvents. Errors: CALL_NOT_FOUND, EVENT_NOT_FOUND.",
    subscribe: ({ args, context }) => {
      const { fresh, scope } = context as Context;
      return callEvents(fresh, scope.ports.listener, args as { callId?: string; after?: string });
    },
  })
  callEvents(
    @Root() event: CallEvent,
    @Arg("callId", () => ID, { nullable: true, description: "Id of the call; all calls without it." })
    _callId?: string,
    @Arg("after", () => ID, { nullable: true, description: "Id of the last event that was seen." })
    _after?: string,
  ): CallEvent {
    return event;
  }

  @FieldResolver(() => Chat, { description: "What is said in it." })
  chat(@Root() { id }: Call, @Ctx() { scope }: Context) {
    return scope.of(Chats).byId(id);
  }

  @FieldResolver(() => Assistant, { description: "Who speaks, even when it was deleted since." })
  assistant(@Root() { assistantId }: Call, @Ctx() { scope }: Context) {
    return scope.of(Assistants).evenDeleted(assistantId);
  }
}
