import { Arg, Args, ArgsType, Ctx, ID, InputType, Int, ObjectType, Resolver } from "type-graphql";
import { Analytics as AnalyticsService } from "../../src/chats/analytics/analytics";
import type { Report } from "../../src/chats/analytics/report";
import {
  AnalyticsAssistant,
  AnalyticsDay,
  AnalyticsEndReason,
  AnalyticsFunction,
  AnalyticsLengths,
  AnalyticsSummary,
  UnansweredQuestion,
} from "./types";
import { FailingDestination, WebhookHealth } from "./webhooks";
import type { Context } from "../core/context";
import { Field, FieldResolver, Query, Root } from "../core/decorators";
import { Channel } from "../core/enums";
import { Rule } from "../core/rules";

@InputType({
  description: "Selection of conversations: those that started in a period and match all filters.",
})
export class AnalyticsInput {
  @Field(() => Date, {
    nullable: true,
    description: "Start of the period (inclusive). Default: 30 days before `to`.",
  })
  from?: Date | null;
  @Field(() => Date, {
    nullable: true,
    description: "End of the period (exclusive), at most 400 days after `from`. Default: now.",
  })
  to?: Date | null;
  @Field(() => ID, {
    nullable: true,
    description: "Only conversations with this assistant, which may be deleted.",
  })
  assistantId?: string | null;
  @Field(() => Channel, { nullable: true, description: "Only conversations on this channel." })
  channel?: "VOICE" | "TEXT" | "SMS" | null;
  @Field(() => ID, { nullable: true, description: "Only conversations with assistants of this project." })
  projectId?: string | null;
  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, {
    nullable: true,
    description:
      "Time zone of the days: an IANA name such as Europe/Zurich, 1 to 64 characters. Default: UTC.",
  })
  timezone?: string | null;
}

@ArgsType()
class UnansweredArgs {
  @Rule({ minimum: 1, maximum: 100 })
  @Field(() => Int, {
    nullable: true,
    defaultValue: 20,
    description: "Maximum number of questions to return, 1 to 100. Default: 20.",
  })
  first?: number | null;
}

@ObjectType({
  description:
    "Statistics of the conversations that started in a period. They are exact and current: a conversation counts as soon as it starts, and all its figures count on the day on which it started.",
  simpleResolvers: true,
})
export class Analytics {
  period!: Report["period"];
}

@Resolver(() => Analytics)
export class AnalyticsResolver {
  @Query(() => Analytics, {
    description:
      "Returns statistics of the organization's conversations and webhooks. Errors: ASSISTANT_NOT_FOUND, PROJECT_NOT_FOUND.",
  })
  analytics(
    @Arg("input", { description: "Selection of conversations." }) input: AnalyticsInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(AnalyticsService).report(input);
  }

  @FieldResolver(() => Date, { description: "Start of the period (inclusive)." })
  from(@Root() { period }: Report) {
    return period.from;
  }

  @FieldResolver(() => Date, { description: "End of the period (exclusive)." })
  to(@Root() { period }: Report) {
    return period.to;
  }

  @FieldResolver(() => AnalyticsSummary, { description: "Statistics of the whole period." })
  totals(@Root() report: Report) {
    return report.totals();
  }

  @FieldResolver(() => [AnalyticsDay], {
    description: "Statistics of each day of the period, oldest first.",
  })
  days(@Root() report: Report) {
    return report.days();
  }

  @FieldResolver(() => [AnalyticsAssistant], {
    description: "Statistics by assistant, most used first.",
  })
  assistants(@Root() report: Report) {
    return report.assistants();
  }

  @FieldResolver(() => [AnalyticsEndReason], {
    description: "Ended conversations by reason, most frequent first.",
  })
  endReasons(@Root() report: Report) {
    return report.endReasons();
  }

  @FieldResolver(() => AnalyticsLengths, {
    description: "Distribution of the lengths of ended conversations.",
  })
  lengths(@Root() report: Report) {
    return report.lengths();
  }

  @FieldResolver(() => [AnalyticsFunction], {
    description: "Calls of functions, by function, including built-in functions; most called first.",
  })
  functions(@Root() report: Report) {
    return report.functions();
  }

  @FieldResolver(() => [UnansweredQuestion], {
    description:
      "Unanswered questions, newest first, taken from the `first` most recently started conversations that have any.",
  })
  unansweredQuestions(@Root() report: Report, @Args() { first }: UnansweredArgs) {
    return report.unansweredQuestions(first ?? 20);
  }

  @FieldResolver(() => WebhookHealth, {
    description:
      "Deliveries of events, of the whole organization or of the project; other filters don't apply.",
  })
  webhooks(@Root() report: Report) {
    return report.webhooks();
  }

  @FieldResolver(() => [FailingDestination], {
    description: "Webhook destinations that are failing now, of the whole organization or of the project.",
  })
  failingDestinations(@Root() report: Report) {
    return report.failingDestinations();
  }
}
