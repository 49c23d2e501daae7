import { LRUCache } from "lru-cache";

/**
 * Limits of queues whose deliveries are being sent, one at a time per queue: per process and destination, and to all
 * destinations that timed out together. Organizations share those of the process.
 */
const MAX_IN_FLIGHT = {
  process: 64,
  destination: 2,
  quickDestination: 16,
  timedOut: 8,
} as const;
/** Smallest number of queues that a quick destination takes while it has others: a claim costs as much as a delivery. */
const MINIMUM_CLAIM = 4;
/** A destination is quick if its last answer took less than this. */
const QUICK_MS = 1_000;
/** Idle destinations whose last answer is remembered. */
const MAX_IDLE_LANES = 10_000;

/** State of a destination in this process. */
export interface Lane {
  readonly organizationId: string;
  readonly destinationId: string;
  inFlight: number;
  /** Duration of the last answer; undefined if the last attempt got none. */
  lastAnswerMs: number | undefined;
  /** Whether the last attempt timed out. Such destinations share one limit. */
  timedOut: boolean;
  /** Whether a claim for this lane is running. */
  filling: boolean;
}

/** Result of the last attempt. */
export type AttemptResult = Pick<Lane, "lastAnswerMs" | "timedOut">;

/** The destinations with pending deliveries, the queues in flight, and how many more each may take. */
export class Lanes {
  private readonly busy = new Map<string, Lane>();
  private readonly idle = new LRUCache<string, Lane>({ max: MAX_IDLE_LANES });
  private readonly marked = new Set<Lane>();
  private readonly counts = new Map<string, number>();

  /** Notes that deliveries to a destination may be due. */
  markPending(organizationId: string, destinationId: string): Lane {
    const known = this.busy.get(destinationId) ?? this.idle.get(destinationId);
    const lane = known ?? {
      organizationId,
      destinationId,
      inFlight: 0,
      lastAnswerMs: undefined,
      timedOut: false,
      filling: false,
    };
    this.idle.delete(destinationId);
    this.busy.set(destinationId, lane);
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

  /** Number of deliveries that a lane may take now; may be zero or negative. */
  capacity(lane: Lane): number {
    const { timedOut } = lane;
    const own = isQuick(lane) ? MAX_IN_FLIGHT.quickDestination : MAX_IN_FLIGHT.destination;
    const held = this.count(ofOrganization(lane));
    const limits = [own - lane.inFlight, share(MAX_IN_FLIGHT.process - this.count(ALL), held)];
    if (timedOut) limits.push(share(MAX_IN_FLIGHT.timedOut - this.count(TIMED_OUT), held));
    return Math.min(...limits);
  }

  /** Smallest capacity worth a claim. */
  minimumClaim(lane: Lane): number {
    return !lane.timedOut && isQuick(lane) && lane.inFlight > 0 ? MINIMUM_CLAIM : 1;
  }

  start(lane: Lane): void {
    this.change(lane, 1);
  }

  /** Notes the result of an attempt. */
  note(lane: Lane, result: AttemptResult): void {
    const { inFlight } = lane;
    this.change(lane, -inFlight);
    Object.assign(lane, result);
    this.change(lane, inFlight);
  }

  /** Notes that a queue has ended. */
  finish(lane: Lane): void {
    this.change(lane, -1);
  }

  /** Moves a lane without pending deliveries or deliveries in flight to the idle ones. */
  release(lane: Lane): void {
    if (lane.inFlight > 0 || lane.filling || this.marked.has(lane)) return;
    this.busy.delete(lane.destinationId);
    this.idle.set(lane.destinationId, lane);
  }

  private change(lane: Lane, by: number): void {
    lane.inFlight += by;
    for (const key of [ALL, ofOrganization(lane), ...(lane.timedOut ? [TIMED_OUT] : [])]) {
      const count = this.count(key) + by;
      if (count === 0) this.counts.delete(key);
      else this.counts.set(key, count);
    }
  }

  private count(key: string): number {
    return this.counts.get(key) ?? 0;
  }
}

const isQuick = ({ lastAnswerMs }: Lane): boolean => lastAnswerMs !== undefined && lastAnswerMs < QUICK_MS;
/** Additional queues for an organization: it may hold at most as many as stay free for others. */
const share = (free: number, held: number): number => Math.ceil((free - held) / 2);

const ALL = "all";
const TIMED_OUT = "timed-out";
/** Timed-out destinations are counted separately, so that they take no capacity from working ones. */
const ofOrganization = ({ organizationId, timedOut }: Lane): string => `${organizationId}/${timedOut}`;
