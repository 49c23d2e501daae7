import { ID, Int, ObjectType } from "type-graphql";
import { count, milliseconds } from "./types";
import { Field } from "../core/decorators";

@ObjectType({
  description: "Deliveries of events to webhook destinations, by outcome.",
  simpleResolvers: true,
})
export class DeliveryCounts {
  @count("Number of deliveries created: one per event and destination.")
  deliveries!: number;
  @count("Number of deliveries that the destination accepted.")
  delivered!: number;
  @count("Number of deliveries that failed and are not retried.")
  failed!: number;
  @count("Number of deliveries that wait for their first attempt or a retry.")
  pending!: number;
  @count("Number of deliveries with more than one attempt, whatever their outcome.")
  retried!: number;
  @milliseconds(
    "Median response time of destinations for successful deliveries (interpolated within buckets with the bounds 50, 100, 200, 400, 800, 1500, 3000, 6000, 10000)",
  )
  medianMs!: number | null;
}

@ObjectType({ description: "Deliveries created on one day.", simpleResolvers: true })
export class DeliveryDay extends DeliveryCounts {
  @Field({ description: "Date in the report's time zone, for example 2026-01-31." })
  date!: string;
}

@ObjectType({
  description:
    "Deliveries created in the period. Deliveries older than EVENT_RETENTION_DAYS are deleted and not counted.",
  simpleResolvers: true,
})
export class WebhookHealth extends DeliveryCounts {
  @Field(() => [DeliveryDay], { description: "Deliveries of each day of the period, oldest first." })
  days!: readonly DeliveryDay[];
}

@ObjectType({
  description:
    "Webhook destination that has been failing since its last success, including one disabled for that reason.",
  simpleResolvers: true,
})
export class FailingDestination {
  @Field(() => ID, { description: "Id of the destination." })
  id!: string;
  @Field(() => String, { nullable: true, description: "Name; null if none was given." })
  name!: string | null;
  @Field({ description: "Host of its URL. The path is omitted because it may contain a secret." })
  host!: string;
  @Field({ description: "Whether events are still sent to the destination." })
  enabled!: boolean;
  @Field(() => Date, {
    nullable: true,
    description: "Time of the first failure since the last success; null if there is none.",
  })
  failingSince!: Date | null;
  @Field(() => Int, { description: "Number of failed attempts since the last success." })
  failures!: number;
}
