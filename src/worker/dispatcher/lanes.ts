import { LRUCache } from "lru-cache";
import type { EventKind } from "../../platform/ports/ports";
import { isQuick, nameOf, Places, type Holder, type Limits } from "./places";
import { Receivers } from "./receivers";

/** Limits of attempts that are under way, which receivers notice. */
const ATTEMPTS: Limits = { process: 64, destination: 2, quickDestination: 16, timedOut: 8 };
/**
 * Limits of queues whose deliveries are being sent, one at a time per queue. There are twice as many for quick
 * destinations, because a result takes as long to record as a quick answer takes to come: some 30 ms instead of 80 ms from
 * commit to attempt at 500 events a second (`npm run bench -- deliveries`).
 */
const QUEUES: Limits = { ...ATTEMPTS, process: 128, quickDestination: 32 };
/** Smallest number of queues that a quick destination takes while it has others: a claim costs as much as a delivery. */
const MINIMUM_CLAIM = 4;
/** Destinations whose deliveries the statement that stores an event may begin. */
const MAX_OFFERED = 8;
/** Idle destinations whose last answer is remembered. */
const MAX_IDLE_LANES = 10_000;

/** State of a destination in this process. */
export interface Lane extends Holder {
  lastAnswerMs: number | undefined;
  timedOut: boolean;
  /** Whether a claim for this lane is running. */
  filling: boolean;
}

/** The state of a destination after an attempt. */
export type LaneState = Pick<Lane, "lastAnswerMs" | "timedOut">;

/** An attempt that waits for its turn. */
interface Waiting {
  readonly lane: Lane;
  readonly decide: (mayBegin: boolean) => void;
}

/** The destinations with pending deliveries, the queues and attempts under way, and how many more each may take. */
export class Lanes {
  private readonly busy = new Map<string, Lane>();
  private readonly idle = new LRUCache<string, Lane>({ max: MAX_IDLE_LANES });
  /** Quick destinations by the events that they get. */
  private readonly receivers = new Receivers();
  private readonly marked = new Set<Lane>();
  private readonly queues = new Places(QUEUES);
  private readonly attempts = new Places(ATTEMPTS);
  private waiting: Waiting[] = [];
  private closed = false;

  /** Notes that deliveries to a destination may be due. */
  markPending(organizationId: string, destinationId: string): Lane {
    const lane = this.known(organizationId, destinationId) ?? {
      organizationId,
      destinationId,
      lastAnswerMs: undefined,
      timedOut: false,
      filling: false,
    };
    this.keep(lane);
    this.marked.add(lane);
    return lane;
  }

  /** Lanes that are marked as pending, longest marked first. */
  pending(): Lane[] {
    return [...this.marked];
  }

  isPending(lane: Lane): boolean {
    return this.marked.has(lane);
  }

  /** Removes the mark before the lane's due deliveries are claimed. */
  clearPending(lane: Lane): void {
    this.marked.delete(lane);
  }

  /** Quick destinations that get such events, have room for a queue, and nothing that waits. */
  withRoom(organizationId: string, kind: EventKind): Lane[] {
    const lanes: Lane[] = [];
    for (const id of this.receivers.of(organizationId, kind)) {
      if (lanes.length === MAX_OFFERED) break;
      const lane = this.known(organizationId, id);
      if (!lane || !isQuick(lane)) this.receivers.remove(organizationId, kind, id);
      else if (!lane.filling && !this.marked.has(lane) && this.capacity(lane) > 0) lanes.push(lane);
    }
    return lanes;
  }

  /** Notes that a destination did not get such an event. */
  noteMiss(organizationId: string, kind: EventKind, destinationId: string): void {
    this.receivers.remove(organizationId, kind, destinationId);
  }

  /** Number of queues that a lane may take now; may be zero or negative. */
  capacity(lane: Lane): number {
    return this.queues.free(lane);
  }

  /** Smallest capacity worth a claim. */
  minimumClaim(lane: Lane): number {
    return !lane.timedOut && isQuick(lane) && this.queues.held(lane) > 0 ? MINIMUM_CLAIM : 1;
  }

  /** Notes that a queue has been taken. */
  start(lane: Lane): void {
    this.keep(lane);
    this.queues.take(lane);
  }

  /** Notes that a queue has ended. */
  finish(lane: Lane): void {
    this.queues.take(lane, -1);
  }

  /**
   * Waits until an attempt may begin.
   * @returns false if the queue is to be given back instead: the destination has become slow, or the process ends
   */
  async begin(lane: Lane): Promise<boolean> {
    return new Promise((decide) => {
      this.waiting.push({ lane, decide });
      this.admit();
    });
  }

  /** Notes the state of a destination after an attempt to deliver such an event. */
  note(lane: Lane, state: LaneState, kind: EventKind): void {
    const [queues, attempts] = [this.queues.held(lane), this.attempts.held(lane)];
    this.queues.take(lane, -queues);
    this.attempts.take(lane, -attempts);
    Object.assign(lane, state);
    this.queues.take(lane, queues);
    this.attempts.take(lane, attempts);
    if (isQuick(lane)) this.receivers.add(lane.organizationId, kind, lane.destinationId);
    this.admit();
  }

  /** Notes that an attempt has ended. */
  end(lane: Lane): void {
    this.attempts.take(lane, -1);
    this.admit();
  }

  /** Turns away the attempts that wait, and all later ones. */
  close(): void {
    this.closed = true;
    this.admit();
  }

  /** Moves a lane without pending deliveries or queues to the idle ones. */
  release(lane: Lane): void {
    if (this.queues.held(lane) > 0 || lane.filling || this.marked.has(lane)) return;
    this.busy.delete(nameOf(lane));
    this.idle.set(nameOf(lane), lane);
  }

  private known(organizationId: string, destinationId: string): Lane | undefined {
    const name = nameOf({ organizationId, destinationId });
    return this.busy.get(name) ?? this.idle.get(name);
  }

  private keep(lane: Lane): void {
    this.idle.delete(nameOf(lane));
    this.busy.set(nameOf(lane), lane);
  }

  /** Lets waiting attempts begin as far as the limits allow, longest waiting first. */
  private admit(): void {
    this.waiting = this.waiting.filter(({ lane, decide }) => {
      const isTurnedAway = this.closed || this.queues.exceeds(lane);
      if (!isTurnedAway && this.attempts.free(lane) <= 0) return true;
      if (!isTurnedAway) this.attempts.take(lane);
      decide(!isTurnedAway);
      return false;
    });
  }
}
