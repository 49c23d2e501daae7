import { Field, ID, Int, ObjectType } from "type-graphql";
import { count, milliseconds } from "./types";

@ObjectType({ description: "How deliveries of events to webhook destinations went.", simpleResolvers: true })
export class DeliveryCounts {
  @count("Deliveries that were made, one for each event and destination.")
  deliveries!: number;
  @count("Those that the destination has taken.")
  delivered!: number;
  @count("Those that were given up.")
  failed!: number;
  @count("Those that wait for their first or next try.")
  pending!: number;
  @count("Those that were tried more than once, whatever became of them.")
  retried!: number;
  @milliseconds(
    "How long a destination took to answer, the median of those delivered, from buckets with the bounds 50, 100, 200, 400, 800, 1500, 3000, 6000, 10000.",
  )
  medianMs!: number | null;
}

@ObjectType({ description: "The deliveries that were made on one day.", simpleResolvers: true })
export class DeliveryDay extends DeliveryCounts {
  @Field({ description: "The day in the report's time zone, such as 2026-01-31." })
  date!: string;
}

@ObjectType({
  description:
    "The deliveries that were made in the period, as long as they are kept (EVENT_RETENTION_DAYS).",
  simpleResolvers: true,
})
export class WebhookHealth extends DeliveryCounts {
  @Field(() => [DeliveryDay], { description: "Every day of the period." })
  days!: DeliveryDay[];
}

@ObjectType({
  description: "A webhook destination that has failed since its last success, or was switched off for it.",
  simpleResolvers: true,
})
export class FailingDestination {
  @Field(() => ID, { description: "The destination's id." })
  id!: string;
  @Field(() => String, { nullable: true, description: "What it is called." })
  name!: string | null;
  @Field({ description: "Host of its URL, without the path, which may hold a secret." })
  host!: string;
  @Field({ description: "Whether events are still sent to it." })
  enabled!: boolean;
  @Field(() => Date, { nullable: true, description: "Since when nothing has succeeded." })
  failingSince!: Date | null;
  @Field(() => Int, { description: "Tries that failed since then." })
  failures!: number;
}
