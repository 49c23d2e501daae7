import { Arg, Ctx, Field, FieldResolver, InputType, Int, Mutation, ObjectType, Resolver } from "type-graphql";
import { holdWarnings } from "../../src/account/organization/hold-notice";
import { Quotas } from "../../src/account/organization/quotas";
import { Retention as RetentionService, type RetentionKind } from "../../src/privacy/retention/retention";
import type { Context } from "../core/context";
import { enumOf } from "../core/enums";
import { Organization } from "./organization";
import { Rule } from "../core/rules";

const Kind = enumOf("RetentionKind", "What is kept for a time.", ["LOGS", "RECORDINGS", "EVENTS"]);

@ObjectType({ description: "A shorter retention that deletes nothing yet.", simpleResolvers: true })
export class PendingRetention {
  @Field(() => Kind, { description: "What it is about." })
  kind!: RetentionKind;
  @Field(() => Int, { description: "Days that will hold." })
  days!: number;
  @Field({ description: "Time from which on it deletes." })
  from!: Date;
}

@ObjectType({
  description:
    "Days for which the organization keeps data, as chosen, else as the server's settings say; null: for ever.",
  simpleResolvers: true,
})
export class Retention {
  @Field(() => Int, { nullable: true, description: "Logs, counted from the end of the conversation." })
  logsDays!: number | null;
  @Field(() => Int, {
    nullable: true,
    description: "Recordings, counted from the end of the call; null: as long as the log.",
  })
  recordingsDays!: number | null;
  @Field(() => Int, {
    nullable: true,
    description: "Events and their deliveries. An event goes with its log where that goes first.",
  })
  eventsDays!: number | null;
  @Field(() => [PendingRetention], { description: "Shorter times that do not hold yet." })
  pending!: PendingRetention[];
}

const DAYS = Rule({ minimum: 1, maximum: 36_500 });

@InputType({ description: "Days to keep data, 1 to 36500; null: as the server's settings say." })
export class UpdateRetentionInput {
  @DAYS
  @Field(() => Int, { nullable: true, description: "Days to keep logs after their conversation ended." })
  logsDays?: number | null;
  @DAYS
  @Field(() => Int, { nullable: true, description: "Days to keep recordings after their call ended." })
  recordingsDays?: number | null;
  @DAYS
  @Field(() => Int, { nullable: true, description: "Days to keep events and their deliveries." })
  eventsDays?: number | null;
}

@Resolver(() => Organization)
export class RetentionResolver {
  @FieldResolver(() => Retention, { description: "Days to keep logs, recordings and events." })
  retention(@Ctx() { scope }: Context) {
    return scope.of(RetentionService).current();
  }

  @FieldResolver(() => [String], {
    description:
      "Things that need attention: data that will be deleted and from when on, 90 % or more of the stored bytes used, an installation that sends nothing until it is released after a restore.",
  })
  async warnings(@Ctx() { scope }: Context): Promise<string[]> {
    const found = [holdWarnings(scope), scope.of(Quotas).warnings(), scope.of(RetentionService).warnings()];
    return (await Promise.all(found)).flat();
  }

  @Mutation(() => Retention, {
    nullable: true,
    description:
      "Changes how long data is kept. A shorter time deletes nothing until `Organization.warnings` has announced it for RETENTION_NOTICE_DAYS days (7 by default); a longer one holds at once.",
  })
  updateRetention(
    @Arg("input", { description: "What to change; what is left out stays." }) input: UpdateRetentionInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(RetentionService).update(input);
  }
}
