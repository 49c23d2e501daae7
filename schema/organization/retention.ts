import { Arg, Ctx, ID, InputType, Int, ObjectType, Resolver } from "type-graphql";
import { holdWarnings } from "../../src/account/organization/hold-notice";
import { ModelFailures } from "../../src/account/organization/model-failures";
import { Quotas } from "../../src/account/organization/quotas";
import { Retention as RetentionService, type RetentionKind } from "../../src/privacy/retention/retention";
import type { Context } from "../core/context";
import { Field, FieldResolver, Mutation } from "../core/decorators";
import { enumOf } from "../core/enums";
import { Organization } from "./organization";
import { Rule } from "../core/rules";

const Kind = enumOf("RetentionKind", "Kind of data with a retention period.", {
  LOGS: "Logs of conversations.",
  RECORDINGS: "Recordings of calls.",
  EVENTS: "Events and their deliveries.",
} satisfies Record<RetentionKind, string>);

@ObjectType({ description: "Shorter retention period that does not apply yet.", simpleResolvers: true })
export class PendingRetention {
  @Field(() => Kind, { description: "Kind of data." })
  kind!: RetentionKind;
  @Field(() => Int, { description: "Future retention period in days." })
  days!: number;
  @Field({ description: "Time from which the shorter period applies." })
  from!: Date;
}

@ObjectType({
  description:
    "Retention periods of the organization in days: its own, else those of the server's settings. null: unlimited.",
  simpleResolvers: true,
})
export class Retention {
  @Field(() => ID, { description: "Id for caches: that of the organization, which has one Retention." })
  id!: string;
  @Field(() => Int, {
    nullable: true,
    description: "Days to keep logs, from the end of the conversation; null: unlimited.",
  })
  logsDays!: number | null;
  @Field(() => Int, {
    nullable: true,
    description: "Days to keep recordings, from the end of the call; null: as long as the log.",
  })
  recordingsDays!: number | null;
  @Field(() => Int, {
    nullable: true,
    description:
      "Days to keep events and their deliveries; null: unlimited. Deleting a log deletes its events, too.",
  })
  eventsDays!: number | null;
  @Field(() => [PendingRetention], { description: "Shorter retention periods that do not apply yet." })
  pending!: readonly PendingRetention[];
}

const DAYS = Rule({ minimum: 1, maximum: 36_500 });

@InputType({
  description:
    "Retention periods in days, 1 to 36,500. null restores the server's setting; omitted fields stay unchanged.",
})
export class UpdateRetentionInput {
  @DAYS
  @Field(() => Int, { nullable: true, description: "Days to keep logs after the end of the conversation." })
  logsDays?: number | null;
  @DAYS
  @Field(() => Int, { nullable: true, description: "Days to keep recordings after the end of the call." })
  recordingsDays?: number | null;
  @DAYS
  @Field(() => Int, { nullable: true, description: "Days to keep events and their deliveries." })
  eventsDays?: number | null;
}

@Resolver(() => Organization)
export class RetentionResolver {
  @FieldResolver(() => Retention, { description: "Retention periods of logs, recordings and events." })
  retention(@Ctx() { scope }: Context) {
    return scope.of(RetentionService).current();
  }

  @FieldResolver(() => [String], {
    description:
      "Conditions that need attention: upcoming deletion of data and its start, 90 % or more of the storage quota used, models whose latest answer failed, or an installation that sends nothing until it is released after a restore.",
  })
  async warnings(@Ctx() { scope }: Context): Promise<string[]> {
    const services = [scope.of(ModelFailures), scope.of(Quotas), scope.of(RetentionService)];
    const found = [holdWarnings(scope), ...services.map((service) => service.warnings())];
    return (await Promise.all(found)).flat();
  }

  @Mutation(() => Retention, {
    nullable: true,
    description:
      "Updates the retention periods. A longer period applies at once; a shorter one only after `Organization.warnings` has announced it for RETENTION_NOTICE_DAYS days (default: 7).",
  })
  updateRetention(
    @Arg("input", { description: "Changes to apply." }) input: UpdateRetentionInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(RetentionService).update(input);
  }
}
