import { Field, Float, ID, Int, ObjectType, registerEnumType } from "type-graphql";
import { Channel } from "../core/enums";

/** A field that counts something. */
export const count = (description: string) => Field(() => Int, { description });
/** A field that is a time, where there is any. */
export const milliseconds = (description: string) =>
  Field(() => Float, { nullable: true, description: `${description} In milliseconds; null without any.` });

export const UnansweredReason = { NOT_KNOWN: "NOT_KNOWN", ERROR: "ERROR", NO_ANSWER: "NO_ANSWER" } as const;
registerEnumType(UnansweredReason, {
  name: "UnansweredReason",
  description:
    "Why nothing useful came of a question. NOT_KNOWN: the assistant said that it doesn't know. ERROR: no answer could be made. NO_ANSWER: the conversation ended before one came.",
});

@ObjectType({ description: "How many values lie between two bounds.", simpleResolvers: true })
export class AnalyticsBucket {
  @Field(() => Int, { description: "Where it begins: the least value in it." })
  from!: number;
  @Field(() => Int, {
    nullable: true,
    description: "The least value beyond it; null of the last one, which has no end.",
  })
  to!: number | null;
  @count("Values in it.")
  count!: number;
}

@ObjectType({
  description:
    "How long persons waited: from each message of theirs to the next one of the assistant that has text. Messages that were answered by an apology for an error, or not at all, are not among them. Percentiles are found in the buckets, as if the values of each were spread evenly over it; beyond the last bound, two minutes, that bound is told.",
  simpleResolvers: true,
})
export class AnswerTimes {
  @count("Messages that were answered.")
  count!: number;
  @milliseconds("The mean.")
  averageMs!: number | null;
  @milliseconds("Half of the answers came within it.")
  p50Ms!: number | null;
  @milliseconds("90 of 100 answers came within it.")
  p90Ms!: number | null;
  @milliseconds("95 of 100 answers came within it.")
  p95Ms!: number | null;
  @milliseconds("99 of 100 answers came within it.")
  p99Ms!: number | null;
  @Field(() => [AnalyticsBucket], {
    description:
      "In milliseconds, with the bounds 250, 500, 1000, 2000, 3000, 5000, 8000, 13000, 20000, 30000, 60000, 120000.",
  })
  buckets!: AnalyticsBucket[];
}

@ObjectType({ description: "What is counted of conversations.", simpleResolvers: true })
export class AnalyticsSummary {
  @count("Conversations that began, live ones among them.")
  conversations!: number;
  @count("Those of them that have not ended.")
  live!: number;
  @count("Messages of persons and assistants that have text.")
  messages!: number;
  @Field(() => Float, {
    nullable: true,
    description: "Such messages in one conversation, on average; null without any.",
  })
  averageMessages!: number | null;
  @Field(() => Float, {
    nullable: true,
    description:
      "From the beginning to the end of those that have ended, on average, in seconds; null without any.",
  })
  averageSeconds!: number | null;
  @count("Messages of persons that have text.")
  questions!: number;
  @count("Those that nothing useful came of: notKnown, errors and noAnswer together.")
  unanswered!: number;
  @count(
    "The assistant said that it doesn't know: its answer has words such as \"I don't know\", in English, German, French, Spanish, Italian, Portuguese or Dutch.",
  )
  notKnown!: number;
  @count("No answer could be made, and the assistant apologized.")
  errors!: number;
  @count("The conversation ended before an answer came.")
  noAnswer!: number;
  @Field(() => AnswerTimes, { description: "How long persons waited for answers." })
  answerTimes!: AnswerTimes;
}

@ObjectType({ description: "Conversations held in one way.", simpleResolvers: true })
export class AnalyticsChannel {
  @Field(() => Channel, { description: "How they were held." })
  channel!: string;
  @count("How many began.")
  conversations!: number;
}

@ObjectType({ description: "The conversations that began on one day.", simpleResolvers: true })
export class AnalyticsDay extends AnalyticsSummary {
  @Field({ description: "The day in the report's time zone, such as 2026-01-31." })
  date!: string;
  @Field(() => [AnalyticsChannel], {
    description: "How they were held: each channel, those without any too.",
  })
  channels!: AnalyticsChannel[];
}

@ObjectType({ description: "The conversations with one assistant.", simpleResolvers: true })
export class AnalyticsAssistant {
  @Field(() => ID, { description: "The assistant's id." })
  assistantId!: string;
  @Field({ description: "What it is called." })
  name!: string;
  @Field({ description: "Whether it was deleted since." })
  deleted!: boolean;
  @count("Conversations that began.")
  conversations!: number;
  @count("Messages of persons and of the assistant that have text.")
  messages!: number;
  @count("Messages of persons that have text.")
  questions!: number;
  @count("Those of them that nothing useful came of.")
  unanswered!: number;
}

@ObjectType({ description: "Conversations that ended for one reason.", simpleResolvers: true })
export class AnalyticsEndReason {
  @Field({ description: "As in the chat's endedReason." })
  reason!: string;
  @count("How many ended so.")
  conversations!: number;
}

@ObjectType({ description: "How long the conversations were that have ended.", simpleResolvers: true })
export class AnalyticsLengths {
  @Field(() => [AnalyticsBucket], {
    description: "In messages that have text, with the bounds 1, 3, 5, 9, 17, 33, 65.",
  })
  messages!: AnalyticsBucket[];
  @Field(() => [AnalyticsBucket], {
    description: "In seconds, with the bounds 15, 30, 60, 120, 300, 600, 1800, 3600.",
  })
  seconds!: AnalyticsBucket[];
}

@ObjectType({
  description: "How the calls of one function went; those that are still waited for are not among them.",
  simpleResolvers: true,
})
export class AnalyticsFunction {
  @Field({ description: "The function's name." })
  name!: string;
  @count("How often it was called.")
  calls!: number;
  @count("How often it answered well.")
  succeeded!: number;
  @count("How often its arguments were wrong, it could not be reached, or it answered with an error.")
  failed!: number;
}

@ObjectType({
  description: "Something that a person said and that nothing useful came of.",
  simpleResolvers: true,
})
export class UnansweredQuestion {
  @Field(() => ID, { description: "The person's message." })
  messageId!: string;
  @Field(() => ID, { description: "The chat, whose log has the id too." })
  chatId!: string;
  @Field(() => ID, { description: "The assistant." })
  assistantId!: string;
  @Field(() => Channel, { description: "How the chat was held." })
  channel!: string;
  @Field({ description: "What the person said." })
  question!: string;
  @Field(() => String, { nullable: true, description: "What the assistant said, if anything." })
  answer!: string | null;
  @Field(() => UnansweredReason, { description: "Why nothing useful came of it." })
  reason!: keyof typeof UnansweredReason;
  @Field({ description: "When the person said it." })
  askedAt!: Date;
}
