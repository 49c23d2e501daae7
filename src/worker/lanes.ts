import { LRUCache } from "lru-cache";

/** Most deliveries in flight: in this process, for one organization, to one destination, to all that hang. */
const MOST = { process: 64, organization: 8, destination: 2, quickDestination: 16, slow: 8 } as const;
/** A destination is quick while its last answer took less than this, in milliseconds. */
const QUICK = 1_000;
/** Of so many destinations with nothing to send it is remembered how they answered. */
const REMEMBERED = 10_000;

/** What is known of a destination. */
export interface Lane {
  readonly organizationId: string;
  readonly destinationId: string;
  inFlight: number;
  /** Milliseconds that the last answer took; undefined when there was none. */
  lastAnswer: number | undefined;
  /** A destination whose last try timed out shares its room with the others that hang. */
  timedOut: boolean;
  /** Somebody is claiming for it. */
  filling: boolean;
}

/** How the last try went. */
export type Tried = Pick<Lane, "lastAnswer" | "timedOut">;

/** The destinations that have something to send, how much of that is in flight, and how much more may be. */
export class Lanes {
  private readonly busy = new Map<string, Lane>();
  private readonly idle = new LRUCache<string, Lane>({ max: REMEMBERED });
  private readonly rung = new Set<Lane>();
  private readonly counts = new Map<string, number>();

  /** Something may be waiting for a destination. */
  ring(organizationId: string, destinationId: string): Lane {
    const known = this.busy.get(destinationId) ?? this.idle.get(destinationId);
    const lane = known ?? {
      organizationId,
      destinationId,
      inFlight: 0,
      lastAnswer: undefined,
      timedOut: false,
      filling: false,
    };
    this.idle.delete(destinationId);
    this.busy.set(destinationId, lane);
    this.rung.add(lane);
    return lane;
  }

  /** Those for which something may be waiting, the longest rung first. */
  waiting(): Lane[] {
    return [...this.rung];
  }

  isRung(lane: Lane): boolean {
    return this.rung.has(lane);
  }

  /** All that waited for a lane has been claimed. */
  hush(lane: Lane): void {
    this.rung.delete(lane);
  }

  /** How many more deliveries a lane may take now. */
  room(lane: Lane): number {
    const { lastAnswer, timedOut } = lane;
    const own = lastAnswer !== undefined && lastAnswer < QUICK ? MOST.quickDestination : MOST.destination;
    const held = this.count(ofOrganization(lane));
    const limits = [
      own - lane.inFlight,
      MOST.organization - held,
      share(MOST.process - this.count(ALL), held),
    ];
    if (timedOut) limits.push(share(MOST.slow - this.count(SLOW), held));
    return Math.min(...limits);
  }

  /** How much room is worth a claim: to a quick destination they go a few at a time, as each claim costs as much as a delivery. */
  worthwhile({ inFlight, lastAnswer, timedOut }: Lane): number {
    const quick = !timedOut && lastAnswer !== undefined && lastAnswer < QUICK;
    return quick && inFlight > 0 ? MOST.organization / 2 : 1;
  }

  began(lane: Lane): void {
    this.change(lane, 1);
  }

  /** A try is over; the next event of its chat may have waited for it. @param tried undefined where it isn't known how it went */
  ended(lane: Lane, tried: Tried | undefined): void {
    this.change(lane, -1);
    if (tried) {
      const { inFlight } = lane;
      this.change(lane, -inFlight);
      Object.assign(lane, tried);
      this.change(lane, inFlight);
    }
    this.ring(lane.organizationId, lane.destinationId);
  }

  /** Lets go of a lane that nothing is in flight on or waits for. */
  rest(lane: Lane): void {
    if (lane.inFlight > 0 || lane.filling || this.rung.has(lane)) return;
    this.busy.delete(lane.destinationId);
    this.idle.set(lane.destinationId, lane);
  }

  private change(lane: Lane, by: number): void {
    lane.inFlight += by;
    for (const key of [ALL, ofOrganization(lane), ...(lane.timedOut ? [SLOW] : [])]) {
      const count = this.count(key) + by;
      if (count === 0) this.counts.delete(key);
      else this.counts.set(key, count);
    }
  }

  private count(key: string): number {
    return this.counts.get(key) ?? 0;
  }
}

/** How many more an organization may take that holds some: it may hold as many as are free, which leaves some for others. */
const share = (free: number, held: number): number => Math.ceil((free - held) / 2);

const ALL = "all";
const SLOW = "slow";
/** What hangs is counted apart: it takes no room from what doesn't. */
const ofOrganization = ({ organizationId, timedOut }: Lane): string => `${organizationId}/${timedOut}`;
