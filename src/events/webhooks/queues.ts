import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import type { StoredEvent } from "../events/bodies";
import { DELIVERIES_CHANNEL } from "../events/record";
import type { AttemptResult } from "./attempts";
import type { DeliveryStatus } from "./deliveries";
import type { DeliveredEvent } from "./event-headers";
import { ADD, CLAIM, PUT_BACK, RENEW, REPAIR, type BegunRow } from "./queue-statements";
import { ADVANCE } from "./queue-steps";

/** A queue of deliveries to a destination: those of a conversation, or a single one. */
export interface Queue {
  readonly destinationId: string;
  /** Empty in the queue of a single delivery. */
  readonly chatId: string;
  /** The single delivery; else empty. */
  readonly deliveryId: string;
}

/** A delivery that has been begun: this process may attempt it until another claim increments `attempt`. */
export interface BegunDelivery {
  readonly id: string;
  readonly attempt: number;
  /** Recorded attempts; excludes attempts during which a server crashed. */
  readonly recordedAttempts: number;
  readonly event: DeliveredEvent & StoredEvent;
}

/** A queue that a worker has taken. */
export interface ClaimedQueue extends Queue {
  readonly claim: string;
  /** Undefined if nothing can be sent now. */
  readonly first: BegunDelivery | undefined;
}

/** A change that a worker makes to the queue that it has taken. */
export interface QueueStep {
  readonly queue: Queue & { readonly claim: string };
  readonly result?: AttemptResult;
  /** Whether the worker goes on with the next delivery of the conversation once the result is recorded. */
  readonly continues: boolean;
  /** Whether it gives the queue back unless it goes on. */
  readonly releases: boolean;
}

/** The outcome of a step. */
export interface StepOutcome {
  /** The new status of the delivery; undefined if a later claim has replaced this one. */
  readonly status: DeliveryStatus | undefined;
  /** The next delivery, if there is one that no other server has begun. */
  readonly begun: BegunDelivery | undefined;
  readonly released: boolean;
  /** Whether something in the queue is due. */
  readonly isDue: boolean;
}

const isAlone = ({ deliveryId }: Queue): boolean => deliveryId !== "";

/** The queues of pending deliveries of an organization. The deliveries themselves decide what may be sent. */
export class DeliveryQueues {
  constructor(private readonly scope: Scope) {}

  /** Adds new deliveries, and notifies the workers of all servers. @param deliveryIds those without a conversation */
  async add(
    destinationId: string,
    chatIds: readonly string[],
    deliveryIds: readonly string[],
  ): Promise<void> {
    const queues = [
      ...chatIds.map((chatId) => ({ chatId, deliveryId: "" })),
      ...deliveryIds.map((deliveryId) => ({ chatId: "", deliveryId })),
    ];
    if (queues.length === 0) return;
    await this.scope.write(ADD, [destinationId, JSON.stringify(queues)]);
    this.scope.announce(DELIVERIES_CHANNEL, { destinationId, queued: "1" });
  }

  /**
   * Takes due queues of a destination, and begins the first delivery of each. An event of a chat waits until every
   * earlier one has been attempted once; attempts during which a server crashed do not count.
   * @param limit maximum number of queues
   * @param leaseMs time until a claim that is not renewed expires
   */
  async claim(destinationId: string, limit: number, leaseMs: number): Promise<ClaimedQueue[]> {
    const claim = newId();
    const rows = await this.scope.write(CLAIM, [destinationId, limit, leaseMs, claim]);
    return rows.map(({ chatId, deliveryId, ...first }) => ({
      ...{ destinationId, chatId, deliveryId, claim },
      first: begunOf(first),
    }));
  }

  /**
   * Records results, begins the next deliveries and gives queues back, in one statement for all steps. A result counts
   * unless a later claim has replaced the attempt; a queue stays taken if somebody is adding to it.
   */
  async advance(steps: readonly QueueStep[], leaseMs: number): Promise<StepOutcome[]> {
    const asked = steps.map(({ queue, result, ...step }, number) => {
      const { destinationId, chatId, deliveryId, claim } = queue;
      // A recorded result moves or ends the queue of a single delivery.
      const releases = step.releases && !(result && isAlone(queue));
      return { number, destinationId, chatId, deliveryId, claim, ...step, releases, ...result };
    });
    const rows = await this.scope.write(ADVANCE, [JSON.stringify(asked), leaseMs]);
    return steps.map(({ queue, result }, number) => {
      const own = rows.filter((row) => row.number === number);
      const next = own.find(({ kind }) => kind === "begun");
      const release = own.find(({ kind }) => kind === "released");
      return {
        status: own.find(({ kind }) => kind === "recorded")?.status ?? undefined,
        begun: next && begunOf(next),
        released: release !== undefined || (result !== undefined && isAlone(queue)),
        isDue: release?.isDue === true,
      };
    });
  }

  /** Extends the claims of queues and their begun deliveries, unless a later claim has replaced them. */
  async renew(
    held: readonly (Queue & {
      readonly claim: string;
      readonly id: string | null;
      readonly attempt: number | null;
    })[],
    leaseMs: number,
  ): Promise<void> {
    await this.scope.write(RENEW, [JSON.stringify(held), leaseMs]);
  }

  /** Gives a queue back whose delivery was begun, but not sent. Does nothing if a later claim has replaced this one. */
  async putBack(queue: Queue & { readonly claim: string }, { id, attempt }: BegunDelivery): Promise<void> {
    const { destinationId, chatId, deliveryId, claim } = queue;
    await this.scope.write(PUT_BACK, [destinationId, chatId, deliveryId, claim, id, attempt]);
  }

  /** Adds the queues of a destination's newest deliveries, stored by a server of an older version. */
  async repair(destinationId: string): Promise<void> {
    await this.scope.write(REPAIR, [destinationId]);
  }
}

/** The columns of a delivery that was begun. */
function begunOf({ id, eventId, attempt, recordedAttempts, ...event }: BegunRow): BegunDelivery | undefined {
  if (id === null) return undefined;
  const { name, type, assistantId, eventChatId: chatId, body, recipe, digest } = event;
  const stored = { id: eventId, name, type, assistantId, chatId, body, recipe, digest };
  return { id, attempt, recordedAttempts, event: stored };
}
