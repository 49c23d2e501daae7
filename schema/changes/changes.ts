import { Arg, Args, ArgsType, Ctx, ID, ObjectType, Resolver } from "type-graphql";
import { ASSISTANT_RECORDS, CHANGED_RECORDS, recordChanges } from "../../src/account/audit/record-changes";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { deliveryChanges } from "../../src/events/webhooks/delivery-changes";
import { Assistant } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Field, FieldResolver, Root, Subscription } from "../core/decorators";
import { Node } from "../core/node";
import { nullIf } from "../core/null-if";
import { NotNull, oneOf, Rule } from "../core/rules";
import { Delivery } from "../events/events";
import { nodeOf } from "../nodes/nodes";
import { PARTS } from "../nodes/kinds";

const ID_OF_CHANGE = "Id of the change. Pass it as `after` to resume the stream after this change.";
const AFTER = "Id of the last change received. Default: only new changes.";
const OPERATION =
  "Name of the GraphQL operation (also for REST requests), command or job that made the change.";
const FIELDS =
  "Names of the fields that the operation received; those of an object follow its name and a dot.";

@ObjectType({ description: "Change of an assistant or of one of its configurations.", simpleResolvers: true })
export class AssistantChange {
  @Field(() => ID, { description: ID_OF_CHANGE })
  id!: string;
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Field({ description: `Type of the changed record: ${oneOf(ASSISTANT_RECORDS)}.` })
  recordType!: string;
  @Field({ description: OPERATION })
  operation!: string;
  @Field(() => [String], { description: FIELDS })
  fields!: readonly string[];
  @Field({ description: "Time of the change." })
  changedAt!: Date;
}

@ObjectType({ description: "Change of a record of the organization.", simpleResolvers: true })
export class RecordChange {
  @Field(() => ID, { description: ID_OF_CHANGE })
  id!: string;
  @Field({ description: `Type of the record: ${oneOf(CHANGED_RECORDS)}.` })
  recordType!: string;
  @Field(() => ID, {
    nullable: true,
    description:
      "Id of the record, for a configuration that of its assistant; null for a change of many records.",
  })
  recordId!: string | null;
  @Field({ description: OPERATION })
  operation!: string;
  @Field(() => [String], { description: FIELDS })
  fields!: readonly string[];
  @Field({ description: "Time of the change." })
  changedAt!: Date;
}

@ArgsType()
class RecordChangesArgs {
  @Rule({ nullable: false, minItems: 1, enum: CHANGED_RECORDS })
  @Field(() => [String], {
    nullable: true,
    description: `Only changes of records of these types, each ${oneOf(CHANGED_RECORDS)}. Default: all of them.`,
  })
  recordTypes?: readonly string[];
  @NotNull
  @Field(() => ID, { nullable: true, description: AFTER })
  after?: string;
}

@ArgsType()
class AssistantChangesArgs {
  @NotNull
  @Field(() => ID, { nullable: true, description: "Id of the assistant. Default: all assistants." })
  assistantId?: string;
  @NotNull
  @Field(() => ID, { nullable: true, description: AFTER })
  after?: string;
}

const RESUMABLE = "from now or after the given change";

@Resolver()
export class ChangesResolver {
  @Subscription(() => RecordChange, {
    description: `Streams the changes of the organization's settings and records, other than conversations and persons, ${RESUMABLE}. They come from the audit log, whichever interface, command or job made them, within about a second.`,
    subscribe: ({ args, context }) => {
      const { recordTypes = CHANGED_RECORDS, after } = args as RecordChangesArgs;
      return recordChanges(context.fresh, { recordTypes, after }, (change) => change);
    },
  })
  organizationChanges(@Root() change: RecordChange, @Args() _args: RecordChangesArgs): RecordChange {
    return change;
  }

  @Subscription(() => AssistantChange, {
    description: `Streams the changes of all assistants, or of one, and of their configurations, ${RESUMABLE}. Errors: ASSISTANT_NOT_FOUND.`,
    subscribe: async ({ args, context: { fresh } }) => {
      const { assistantId: recordId, after } = args as AssistantChangesArgs;
      if (recordId !== undefined) await fresh().of(Assistants).byIdIncludingDeleted(recordId);
      const wanted = { recordTypes: ASSISTANT_RECORDS, recordId, after };
      return recordChanges(fresh, wanted, (change) => ({ ...change, assistantId: change.recordId! }));
    },
  })
  assistantChanges(@Root() change: AssistantChange, @Args() _args: AssistantChangesArgs): AssistantChange {
    return change;
  }

  @Subscription(() => Delivery, {
    description:
      "Streams the pending deliveries to one webhook destination or to all of them, and then each delivery when it is created, after each attempt, and when it fails for good. Deliveries arrive in their latest state, within about a second. If more than 1,000 change within 15 seconds, some are left out; read `WebhookDestination.deliveries` for all. Errors: WEBHOOK_DESTINATION_NOT_FOUND.",
    subscribe: ({ args, context }) =>
      deliveryChanges(context.fresh, (args as { destinationId?: string | null }).destinationId),
  })
  deliveryChanges(
    @Root() delivery: Delivery,
    @Arg("destinationId", () => ID, {
      nullable: true,
      description:
        "Id of the webhook destination. Default: all destinations of the organization and its projects.",
    })
    _destinationId?: string,
  ): Delivery {
    return delivery;
  }
}

@Resolver(() => AssistantChange)
export class AssistantChangeResolver {
  @FieldResolver(() => Assistant, {
    nullable: true,
    description:
      "Current state of the assistant, which may include later changes; null if it has been deleted.",
  })
  assistant(@Root() { assistantId }: AssistantChange, @Ctx() { scope }: Context) {
    return scope.of(Assistants).byId(assistantId).catch(nullIf("ASSISTANT_NOT_FOUND"));
  }
}

@Resolver(() => RecordChange)
export class RecordChangeResolver {
  @FieldResolver(() => Node, {
    nullable: true,
    description:
      "Current state of the record, which may include later changes; null if it has been deleted or does not implement Node. The permissions of the query for a single record of that type apply.",
  })
  node(@Root() { recordType, recordId }: RecordChange, @Ctx() context: Context) {
    if (recordId === null) return null;
    const part = PARTS[recordType];
    const id = part === undefined ? recordId : `${recordId}.${part}`;
    return nodeOf(id, context).catch(nullIf("NODE_NOT_FOUND"));
  }
}
