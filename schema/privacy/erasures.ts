import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from "type-graphql";
import {
  Erasures,
  SUBJECTS,
  type ErasureStatus,
  type ErasureSubject,
} from "../../src/privacy/erasure/erasures";
import { personOf } from "../../src/privacy/people/person";
import { LogFilter } from "../logs/all-logs";
import { Deleted } from "../assistants/assistants";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { enumOf } from "../core/enums";
import { Rule } from "../core/rules";

const Status = enumOf(
  "ErasureStatus",
  "State of an erasure. PENDING: it waits for a worker. RUNNING: a worker is at it, or resumes it after a failure. DONE: nothing is left to erase, here and at providers.",
  ["PENDING", "RUNNING", "DONE"],
);
export const Subject = enumOf(
  "ErasureSubject",
  "Subject of an erasure or an export: a person by one kind of identifier, or logs.",
  [...Object.values(SUBJECTS), "LOGS"],
);

@ObjectType({
  description: "Receipt of an erasure: counts and times, and nothing that tells whose data it was.",
  simpleResolvers: true,
})
export class ForgetReceipt {
  @Field(() => ID, { description: "Opaque." })
  id!: string;
  @Field(() => Subject, { description: "Kind of the identifier, or LOGS." })
  subject!: ErasureSubject;
  @Field(() => Status, { description: "State of the erasure. Counts grow until it is DONE." })
  status!: ErasureStatus;
  @Field(() => Int, { description: "Conversations found when the erasure was requested." })
  matched!: number;
  @Field(() => Int, { description: "Conversations erased." })
  chats!: number;
  @Field(() => Int, { description: "Messages erased." })
  messages!: number;
  @Field(() => Int, { description: "Remembered facts erased." })
  facts!: number;
  @Field(() => Int, { description: "Remembered ends of conversations erased." })
  contexts!: number;
  @Field(() => Int, { description: "Events erased, each with its deliveries." })
  events!: number;
  @Field(() => Int, {
    description:
      "Files erased: those whose metadata names the person (uniqueId, userId, anonymousId, phoneNumber) or one of their chats (chatId).",
  })
  files!: number;
  @Field(() => Int, {
    description: "Recordings erased. The voice engine is asked to delete what it keeps of the calls.",
  })
  recordings!: number;
  @Field(() => Int, {
    description:
      "Records of SMS received and sent erased. The telephony provider is asked to delete the texts.",
  })
  texts!: number;
  @Field(() => Int, {
    description: "Exports withdrawn that held something erased. Their archives are removed.",
  })
  exports!: number;
  @Field(() => Int, {
    description:
      "Texts that the telephony provider did not delete: it refused, or did not answer for hours. 0 if it keeps none.",
  })
  textsKept!: number;
  @Field(() => Int, {
    description:
      "Calls that the voice engine did not delete: it refused, or did not answer for hours. 0 if it keeps none.",
  })
  callsKept!: number;
  @Field({ description: "Time of the request. Conversations that began later are not erased." })
  requestedAt!: Date;
  @Field(() => Date, { nullable: true, description: "Time when nothing was left; null until then." })
  finishedAt!: Date | null;
}

@ArgsType()
export class PersonArgs {
  @Rule({ maxLength: 4096 })
  @Field(() => String, { nullable: true, description: "Your id of the person in chats." })
  uniqueId?: string | null;
  @Rule({ maxLength: 4096 })
  @Field(() => String, {
    nullable: true,
    description: "Your id of the person in calls and tokens; also finds chats whose uniqueId it is.",
  })
  userId?: string | null;
  @Rule({ maxLength: 4096 })
  @Field(() => String, {
    nullable: true,
    description: "Your id of an unknown person in calls; also finds chats whose uniqueId it is.",
  })
  anonymousId?: string | null;
  @Rule({ maxLength: 4096 })
  @Field(() => String, { nullable: true, description: "Phone number of calls and SMS, E.164." })
  phoneNumber?: string | null;
}

const ErasureConnection = ConnectionOf(() => ForgetReceipt, "Erasure");

@Resolver()
export class ErasureResolver {
  @Query(() => ErasureConnection, { description: "Lists the receipts of erasures, the newest first." })
  erasures(@Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(Erasures).list(query);
  }

  @Query(() => ForgetReceipt, {
    nullable: true,
    description: "Returns the receipt of one erasure. Errors: ERASURE_NOT_FOUND.",
  })
  erasure(@Arg("id", () => ID, { description: "Id of the receipt." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Erasures).byId(id);
  }

  @Mutation(() => Deleted, {
    nullable: true,
    description:
      "Deletes the log of an ended conversation with its messages, recording, events and deliveries. Errors: LOG_NOT_FOUND; CHAT_LIVE while the conversation goes on.",
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
      "Deletes the logs of ended conversations by a filter, which needs at least one condition. Live conversations stay. Runs as a job: `matched` tells how many there are, `erasure` how many are gone. Errors: ASSISTANT_NOT_FOUND.",
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
      "Erases a person, named by exactly one identifier: ends their live chats, then removes their messages, labels, metadata, variables, recordings, files, events, deliveries and remembered facts. Counts for analytics remain without a link to the person. Runs as a job; query `erasure` for its progress.",
  })
  forgetEndUser(@Args() person: PersonArgs, @Ctx() { scope }: Context) {
    return scope.of(Erasures).ofPerson(personOf(person));
  }
}
