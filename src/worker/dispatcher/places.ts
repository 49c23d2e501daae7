import { idInAll } from "../../platform/database/values/ids";

/** Limits of one kind of work: in a process, for a destination, and for all destinations that timed out together. */
export interface Limits {
  readonly process: number;
  readonly destination: number;
  readonly quickDestination: number;
  readonly timedOut: number;
}

/** Identifies a destination in all organizations. */
export const nameOf = (holder: Pick<Holder, "organizationId" | "destinationId">): string =>
  idInAll(holder.organizationId, holder.destinationId);

/** A destination, and its state after its last attempt. */
export interface Holder {
  readonly organizationId: string;
  readonly destinationId: string;
  /** Duration of the last answer; undefined if the last attempt got none. */
  readonly lastAnswerMs: number | undefined;
  /** Whether the last attempt timed out. Such destinations share one limit. */
  readonly timedOut: boolean;
}

/** A destination is quick if its last answer took less than this. */
const QUICK_MS = 1_000;

/** Counts what destinations hold of one kind, and how many more each may hold. Organizations share what there is. */
export class Places {
  private readonly counts = new Map<string, number>();

  constructor(private readonly limits: Limits) {}

  /** Number of places that a destination holds. */
  held(holder: Holder): number {
    return this.count(nameOf(holder));
  }

  /** Number of places that a destination may take now; may be zero or negative. */
  free(holder: Holder): number {
    const { process, timedOut } = this.limits;
    const held = this.count(ofOrganization(holder));
    const free = [this.own(holder) - this.held(holder), share(process - this.count(ALL), held)];
    if (holder.timedOut) free.push(share(timedOut - this.count(TIMED_OUT), held));
    return Math.min(...free);
  }

  /** Whether a destination holds more than it may take now, because it was quick before. */
  exceeds(holder: Holder): boolean {
    return this.held(holder) > this.own(holder);
  }

  /** @param count negative to give places back */
  take(holder: Holder, count = 1): void {
    for (const key of [
      ALL,
      nameOf(holder),
      ofOrganization(holder),
      ...(holder.timedOut ? [TIMED_OUT] : []),
    ]) {
      const sum = this.count(key) + count;
      if (sum === 0) this.counts.delete(key);
      else this.counts.set(key, sum);
    }
  }

  private own(holder: Holder): number {
    return isQuick(holder) ? this.limits.quickDestination : this.limits.destination;
  }

  private count(key: string): number {
    return this.counts.get(key) ?? 0;
  }
}

export const isQuick = ({ lastAnswerMs }: Holder): boolean =>
  lastAnswerMs !== undefined && lastAnswerMs < QUICK_MS;
/** Additional places for an organization: it may hold at most as many as stay free for others. */
const share = (free: number, held: number): number => Math.ceil((free - held) / 2);

const ALL = "all";
const TIMED_OUT = "timed-out";
/** Timed-out destinations are counted separately, so that they take no capacity from working ones. */
const ofOrganization = ({ organizationId, timedOut }: Holder): string => `${organizationId}/${timedOut}`;
