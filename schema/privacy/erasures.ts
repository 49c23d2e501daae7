import { Arg, Args, ArgsType, Ctx, ID, Int, ObjectType, Resolver } from "type-graphql";
import { Erasures, type ErasureStatus, type ErasureSubject } from "../../src/privacy/erasure/erasures";
import { personOf } from "../../src/privacy/people/person";
import { LogFilter } from "../logs/all-logs";
import { Deleted } from "../assistants/assistants";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, Mutation, Query } from "../core/decorators";
import { enumOf } from "../core/enums";
import { Rule } from "../core/rules";

const Status = enumOf("ErasureStatus", "Status of an erasure.", {
  PENDING: "The erasure waits for a worker.",
  RUNNING: "A worker is erasing, or will resume after a failure.",
  DONE: "Nothing is left to erase, here or at providers.",
} satisfies Record<ErasureStatus, string>);
export const Subject = enumOf(
  "ErasureSubject",
  "Subject of an erasure or an export: a person by one kind of identifier, or logs.",
  {
    UNIQUE_ID: "The person with a uniqueId.",
    USER_ID: "The person with a userId.",
    ANONYMOUS_ID: "The person with an anonymousId.",
    PHONE_NUMBER: "The person with a telephone number.",
    LOGS: "Logs that match a filter.",
  } satisfies Record<ErasureSubject, string>,
);

@ObjectType({
  implements: Node,
  description: "Receipt of an erasure: counts and times, without any data that identifies the person.",
  simpleResolvers: true,
})
export class ForgetReceipt {
  @Field(() => ID, { description: "Opaque id." })
  id!: string;
  @Field(() => Subject, { description: "Kind of the identifier, or LOGS." })
  subject!: ErasureSubject;
  @Field(() => Status, { description: "Status of the erasure. Counts grow until it is DONE." })
  status!: ErasureStatus;
  @Field(() => Int, {
    description:
      "Number of conversations found when the erasure was requested. If counting them would have taken too long, it grows with `chats`.",
  })
  matched!: number;
  @Field(() => Int, { description: "Number of conversations erased." })
  chats!: number;
  @Field(() => Int, { description: "Number of messages erased." })
  messages!: number;
  @Field(() => Int, { description: "Number of remembered facts erased." })
  facts!: number;
  @Field(() => Int, {
    description: "Number of conversation endings, remembered for the next conversation, that were erased.",
  })
  contexts!: number;
  @Field(() => Int, { description: "Number of events erased, with their deliveries." })
  events!: number;
  @Field(() => Int, {
    description:
      "Number of files erased: those whose metadata names the person (uniqueId, userId, anonymousId, phoneNumber) or one of their chats (chatId).",
  })
  files!: number;
  @Field(() => Int, {
    description:
      "Number of recordings erased. The voice engine is also asked to delete its data about the calls.",
  })
  recordings!: number;
  @Field(() => Int, {
    description:
      "Number of records of received and sent SMS erased. The telephony provider is also asked to delete the texts.",
  })
  texts!: number;
  @Field(() => Int, {
    description:
      "Number of exports withdrawn because they contained erased data. Their archives are removed.",
  })
  exports!: number;
  @Field(() => Int, {
    description:
      "Number of texts that the telephony provider did not delete: it refused or did not respond for hours. 0 if it stores none.",
  })
  textsKept!: number;
  @Field(() => Int, {
    description:
      "Number of calls that the voice engine did not delete: it refused or did not respond for hours. 0 if it stores none.",
  })
  callsKept!: number;
  @Field({ description: "Time of the request. Conversations that started later are not erased." })
  requestedAt!: Date;
  @Field(() => Date, { nullable: true, description: "Time when the erasure was done; null until then." })
  finishedAt!: Date | null;
}

@ArgsType()
export class PersonArgs {
  @Rule({ maxLength: 4096 })
  @Field(() => String, {
    nullable: true,
    description: "Your id for the person in chats; at most 4,096 characters.",
  })
  uniqueId?: string | null;
  @Rule({ maxLength: 4096 })
  @Field(() => String, {
    nullable: true,
    description:
      "Your id for the person in calls and tokens; also matches the uniqueId of chats. At most 4,096 characters.",
  })
  userId?: string | null;
  @Rule({ maxLength: 4096 })
  @Field(() => String, {
    nullable: true,
    description:
      "Your id for an unknown person in calls; also matches the uniqueId of chats. At most 4,096 characters.",
  })
  anonymousId?: string | null;
  @Rule({ maxLength: 4096 })
  @Field(() => String, { nullable: true, description: "Telephone number in calls and SMS, in E.164 format." })
  phoneNumber?: string | null;
}

const ErasureConnection = ConnectionOf(() => ForgetReceipt, "Erasure");

@Resolver()
export class ErasureResolver {
  @Query(() => ErasureConnection, { description: "Lists the receipts of erasures, newest first." })
  erasures(@Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(Erasures).list(query);
  }

  @Query(() => ForgetReceipt, {
    nullable: true,
    description: "Returns the receipt of an erasure. Errors: ERASURE_NOT_FOUND.",
  })
  erasure(@Arg("id", () => ID, { description: "Id of the receipt." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Erasures).byId(id);
  }

  @Mutation(() => Deleted, {
    nullable: true,
    description:
      "Deletes the log of an ended conversation with its messages, recording, events and deliveries. Errors: LOG_NOT_FOUND; CHAT_LIVE if the conversation is live.",
  })
  deleteLog(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) assistantId: string,
    @Arg("id", () => ID, { description: "Id of the log." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Erasures).removeLog(assistantId, id);
  }

  @Mutation(() => ForgetReceipt, {
    nullable: true,
    description:
      "Deletes the logs of ended conversations that match a filter with at least one condition. Live conversations stay. Runs as a job: `matched` is the number of conversations found, or grows with `chats` if counting them takes too long; query `erasure` for its progress. Errors: ASSISTANT_NOT_FOUND.",
  })
  deleteLogs(
    @Arg("filter", () => LogFilter, { description: "Conditions for the logs to delete; at least one." })
    filter: LogFilter,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Erasures).ofLogs(filter);
  }

  @Mutation(() => ForgetReceipt, {
    nullable: true,
    description:
      "Erases the data of a person, given by exactly one identifier: ends their live chats, then removes their messages, labels, metadata, variables, recordings, files, events, deliveries and remembered facts. Counts for analytics remain without a link to the person. Runs as a job; query `erasure` for its progress.",
  })
  forgetEndUser(@Args() person: PersonArgs, @Ctx() { scope }: Context) {
    return scope.of(Erasures).ofPerson(personOf(person));
  }
}
