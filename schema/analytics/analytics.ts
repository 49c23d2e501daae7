import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from "type-graphql";
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
import { Channel } from "../core/enums";
import { Rule } from "../core/rules";

@InputType({ description: "Which conversations statistics are of: those that began in a period." })
export class AnalyticsInput {
  @Field(() => Date, {
    nullable: true,
    description: "Where the period begins; 30 days before `to` without it.",
  })
  from?: Date | null;
  @Field(() => Date, {
    nullable: true,
    description: "The first moment behind the period, at most 400 days after `from`; now without it.",
  })
  to?: Date | null;
  @Field(() => ID, {
    nullable: true,
    description: "Only conversations with this assistant, a deleted one too.",
  })
  assistantId?: string | null;
  @Field(() => Channel, { nullable: true, description: "Only conversations held this way." })
  channel?: "VOICE" | "TEXT" | "SMS" | null;
  @Field(() => ID, { nullable: true, description: "Only conversations with assistants of this project." })
  projectId?: string | null;
  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String, {
    nullable: true,
    description: "Where days begin: a name of the IANA database such as Europe/Zurich; UTC without it.",
  })
  timezone?: string | null;
}

@ArgsType()
class UnansweredArgs {
  @Rule({ minimum: 1, maximum: 100 })
  @Field(() => Int, { nullable: true, defaultValue: 20, description: "Most of them to return, 1 to 100." })
  first?: number | null;
}

@ObjectType({
  description:
    "Statistics of the conversations that began in a period. They are exact at every moment: a conversation counts from its first one on, and all that is counted of it counts on the day on which it began.",
  simpleResolvers: true,
})
export class Analytics {
  period!: Report["period"];
}

@Resolver(() => Analytics)
export class AnalyticsResolver {
  @Query(() => Analytics, {
    description:
      "Statistics of the organization's conversations and webhooks. Errors: ASSISTANT_NOT_FOUND, PROJECT_NOT_FOUND.",
  })
  analytics(
    @Arg("input", { description: "Which conversations." }) input: AnalyticsInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(AnalyticsService).report(input);
  }

  @FieldResolver(() => Date, { description: "Where the period begins." })
  from(@Root() { period }: Report) {
    return period.from;
  }

  @FieldResolver(() => Date, { description: "The first moment behind it." })
  to(@Root() { period }: Report) {
    return period.to;
  }

  @FieldResolver(() => AnalyticsSummary, { description: "Of the whole period." })
  totals(@Root() report: Report) {
    return report.totals();
  }

  @FieldResolver(() => [AnalyticsDay], {
    description: "Every day that the period touches, the first one first.",
  })
  days(@Root() report: Report) {
    return report.days();
  }

  @FieldResolver(() => [AnalyticsAssistant], {
    description: "Each assistant that conversations began with, the most used first.",
  })
  assistants(@Root() report: Report) {
    return report.assistants();
  }

  @FieldResolver(() => [AnalyticsEndReason], {
    description: "Why conversations ended, the commonest reason first.",
  })
  endReasons(@Root() report: Report) {
    return report.endReasons();
  }

  @FieldResolver(() => AnalyticsLengths, { description: "How long they were." })
  lengths(@Root() report: Report) {
    return report.lengths();
  }

  @FieldResolver(() => [AnalyticsFunction], {
    description:
      "How calls of functions went, those of assistants' own and those of the service; the most called first.",
  })
  functions(@Root() report: Report) {
    return report.functions();
  }

  @FieldResolver(() => [UnansweredQuestion], {
    description:
      "What nothing useful came of, the newest first: of as many conversations with such questions as are asked for, those that began last.",
  })
  unansweredQuestions(@Root() report: Report, @Args() { first }: UnansweredArgs) {
    return report.unansweredQuestions(first ?? 20);
  }

  @FieldResolver(() => WebhookHealth, {
    description:
      "How events were delivered: of the whole organization, or of the project; other filters don't apply.",
  })
  webhooks(@Root() report: Report) {
    return report.webhooks();
  }

  @FieldResolver(() => [FailingDestination], {
    description: "Webhook destinations that fail now, of the whole organization, or of the project.",
  })
  failingDestinations(@Root() report: Report) {
    return report.failingDestinations();
  }
}
