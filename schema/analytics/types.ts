import { Float, ID, Int, ObjectType, registerEnumType } from "type-graphql";
import { Field } from "../core/decorators";
import { Channel } from "../core/enums";

/** Declares a field with a count. */
export const count = (description: string) => Field(() => Int, { description });
/** Declares a nullable field with a duration in milliseconds. */
export const milliseconds = (description: string) =>
  Field(() => Float, {
    nullable: true,
    description: `${description}, in milliseconds; null if there is none.`,
  });

/** How the length of a conversation is measured; migration 040 computes it. */
export const LENGTH_RULE =
  "A call lasts from its answer to its end. A chat or SMS conversation lasts from its start to its last message with text, without gaps of more than 5 minutes.";

export const UnansweredReason = { NOT_KNOWN: "NOT_KNOWN", ERROR: "ERROR", NO_ANSWER: "NO_ANSWER" } as const;
registerEnumType(UnansweredReason, {
  name: "UnansweredReason",
  description: "Reason why a question is unanswered.",
  valuesConfig: {
    NOT_KNOWN: { description: "The assistant said that it doesn't know." },
    ERROR: { description: "Generating the answer failed." },
    NO_ANSWER: { description: "The conversation ended before an answer." },
  },
});

@ObjectType({
  description: "Bucket of a distribution: the number of values between two bounds.",
  simpleResolvers: true,
})
export class AnalyticsBucket {
  @Field(() => Int, { description: "Lower bound (inclusive)." })
  from!: number;
  @Field(() => Int, {
    nullable: true,
    description: "Upper bound (exclusive); null for the last bucket, which has none.",
  })
  to!: number | null;
  @count("Number of values in the bucket.")
  count!: number;
}

@ObjectType({
  description:
    "Response times: from each message of an end user to the assistant's next message with text. Excludes messages without an answer or answered by an apology for an error. Percentiles are interpolated linearly within the buckets and are at most the last bound, two minutes.",
  simpleResolvers: true,
})
export class AnswerTimes {
  @count("Number of answered messages.")
  count!: number;
  @milliseconds("Average response time")
  averageMs!: number | null;
  @milliseconds("Median response time")
  p50Ms!: number | null;
  @milliseconds("90th percentile of the response time")
  p90Ms!: number | null;
  @milliseconds("95th percentile of the response time")
  p95Ms!: number | null;
  @milliseconds("99th percentile of the response time")
  p99Ms!: number | null;
  @Field(() => [AnalyticsBucket], {
    description:
      "Distribution of the response times in milliseconds, with the bounds 250, 500, 1000, 2000, 3000, 5000, 8000, 13000, 20000, 30000, 60000, 120000.",
  })
  buckets!: readonly AnalyticsBucket[];
}

@ObjectType({ description: "Statistics of conversations.", simpleResolvers: true })
export class AnalyticsSummary {
  @count("Number of conversations that started, including live ones.")
  conversations!: number;
  @count("Number of conversations that started and have not ended.")
  live!: number;
  @count("Number of messages from end users and assistants that have text.")
  messages!: number;
  @Field(() => Float, {
    nullable: true,
    description: "Average number of messages with text per conversation; null if there is no conversation.",
  })
  averageMessages!: number | null;
  @Field(() => Float, {
    nullable: true,
    description: `Average length of ended conversations without idle time, in seconds; null if none has ended. ${LENGTH_RULE}`,
  })
  averageSeconds!: number | null;
  @count("Number of messages from end users that have text.")
  questions!: number;
  @count("Number of unanswered questions: the sum of notKnown, errors and noAnswer.")
  unanswered!: number;
  @count(
    "Number of questions to which the assistant said that it doesn't know. Recognized by phrases such as \"I don't know\" in the languages of the widget: Arabic, Chinese, Dutch, English, French, German, Hebrew, Italian, Japanese, Korean, Polish, Portuguese, Spanish and Turkish.",
  )
  notKnown!: number;
  @count("Number of questions for which generating the answer failed and the assistant apologized.")
  errors!: number;
  @count("Number of questions after which the conversation ended without an answer.")
  noAnswer!: number;
  @Field(() => AnswerTimes, { description: "Response times of the assistants." })
  answerTimes!: AnswerTimes;
}

@ObjectType({ description: "Number of conversations on one channel.", simpleResolvers: true })
export class AnalyticsChannel {
  @Field(() => Channel, { description: "Channel of the conversations." })
  channel!: string;
  @count("Number of conversations that started.")
  conversations!: number;
}

@ObjectType({
  description: "Statistics of the conversations that started on one day.",
  simpleResolvers: true,
})
export class AnalyticsDay extends AnalyticsSummary {
  @Field({ description: "Date in the report's time zone, for example 2026-01-31." })
  date!: string;
  @Field(() => [AnalyticsChannel], {
    description: "Conversations by channel, including channels without conversations.",
  })
  channels!: readonly AnalyticsChannel[];
}

@ObjectType({ description: "Statistics of the conversations with one assistant.", simpleResolvers: true })
export class AnalyticsAssistant {
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Field({ description: "Name of the assistant." })
  name!: string;
  @Field({ description: "Whether the assistant has been deleted." })
  deleted!: boolean;
  @count("Number of conversations that started.")
  conversations!: number;
  @count("Number of messages from end users and the assistant that have text.")
  messages!: number;
  @count("Number of messages from end users that have text.")
  questions!: number;
  @count("Number of unanswered questions.")
  unanswered!: number;
}

@ObjectType({ description: "Number of conversations that ended for one reason.", simpleResolvers: true })
export class AnalyticsEndReason {
  @Field({ description: "Reason, as in `endedReason` of the chats." })
  reason!: string;
  @count("Number of conversations that ended for this reason.")
  conversations!: number;
}

@ObjectType({ description: "Distribution of the lengths of ended conversations.", simpleResolvers: true })
export class AnalyticsLengths {
  @Field(() => [AnalyticsBucket], {
    description: "Length in messages with text, with the bounds 1, 3, 5, 9, 17, 33, 65.",
  })
  messages!: readonly AnalyticsBucket[];
  @Field(() => [AnalyticsBucket], {
    description: `Length without idle time, in seconds, with the bounds 15, 30, 60, 120, 300, 600, 1800, 3600. ${LENGTH_RULE}`,
  })
  seconds!: readonly AnalyticsBucket[];
}

@ObjectType({
  description: "Calls of one function by outcome. Excludes calls in flight.",
  simpleResolvers: true,
})
export class AnalyticsFunction {
  @Field({ description: "Name of the function." })
  name!: string;
  @count("Number of calls.")
  calls!: number;
  @count("Number of successful calls.")
  succeeded!: number;
  @count("Number of calls that failed: invalid arguments, unreachable server, or an error response.")
  failed!: number;
}

@ObjectType({
  description: "Message of an end user without a useful answer.",
  simpleResolvers: true,
})
export class UnansweredQuestion {
  @Field(() => ID, { description: "Id of the end user's message." })
  messageId!: string;
  @Field(() => ID, { description: "Id of the chat and of its log." })
  chatId!: string;
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Field(() => Channel, { description: "Channel of the chat." })
  channel!: string;
  @Field({ description: "Text of the end user's message." })
  question!: string;
  @Field(() => String, {
    nullable: true,
    description: "Text of the assistant's answer; null if there is none.",
  })
  answer!: string | null;
  @Field(() => UnansweredReason, { description: "Reason why the question is unanswered." })
  reason!: keyof typeof UnansweredReason;
  @Field({ description: "Time of the end user's message." })
  askedAt!: Date;
}
