import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";

export type RetentionKind = "LOGS" | "RECORDINGS" | "EVENTS";
const KINDS: readonly RetentionKind[] = ["LOGS", "RECORDINGS", "EVENTS"];
const NAMES = { LOGS: "Logs", RECORDINGS: "Recordings", EVENTS: "Events" } as const;

/** Retention in days; null means forever. */
type Days = number | null;

/** Retention of an organization's data. */
export interface RetentionState {
  /** Id of the organization. */
  readonly id: string;
  readonly logsDays: Days;
  readonly recordingsDays: Days;
  readonly eventsDays: Days;
  readonly pending: readonly PendingRetention[];
}

/** A shorter retention that is announced but not yet in effect. */
export interface PendingRetention {
  readonly kind: RetentionKind;
  readonly days: number;
  readonly from: Date;
}

/** New retention values: undefined leaves a value unchanged; null resets it to the server's default. */
export interface RetentionInput {
  readonly logsDays?: Days;
  readonly recordingsDays?: Days;
  readonly eventsDays?: Days;
}

interface Row {
  readonly kind: RetentionKind;
  readonly chosenDays: Days;
  readonly heldDays: Days;
  readonly toldDays: Days;
  readonly toldAt: Date | null;
  /** Whether the notice period is over, by the database's clock. */
  readonly due: boolean;
}

interface RetentionSettlement {
  readonly held: Readonly<Record<RetentionKind, Days>>;
  readonly changed: readonly RetentionKind[];
}

interface Changes {
  readonly heldDays?: Days;
  readonly toldDays?: Days;
  /** True if the notice period starts now. */
  readonly isTold?: true;
}

const NO_NOTICE = { toldDays: null };
const DAY_MS = 86_400_000;

/**
 * Retention of logs, recordings and events. A shorter retention takes effect after a notice period; a longer one at
 * once.
 */
export class Retention {
  constructor(private readonly scope: Scope) {}

  async current(): Promise<RetentionState> {
    const rows = await this.rows();
    const wanted = (kind: RetentionKind) => this.wanted(rows.find((row) => row.kind === kind)!);
    return {
      id: this.scope.organizationId,
      logsDays: wanted("LOGS"),
      recordingsDays: wanted("RECORDINGS"),
      eventsDays: wanted("EVENTS"),
      pending: rows.flatMap((row) => this.pendingOf(row) ?? []),
    };
  }

  async update({ logsDays, recordingsDays, eventsDays }: RetentionInput): Promise<RetentionState> {
    return this.scope.transaction(async (scope) => {
      const retention = scope.of(Retention);
      await retention.rows();
      const chosen = { LOGS: logsDays, RECORDINGS: recordingsDays, EVENTS: eventsDays };
      for (const kind of KINDS)
        if (chosen[kind] !== undefined)
          await scope.table("retentions").where({ kind }).update({ chosenDays: chosen[kind] });
      await retention.settle();
      return retention.current();
    });
  }

  /** Warnings about announced deletions and their dates. */
  async warnings(): Promise<string[]> {
    const rows = await this.rows();
    return rows.flatMap((row) => {
      const pending = this.pendingOf(row);
      if (!pending) return [];
      const before = row.heldDays === null ? "forever" : `for ${row.heldDays} days`;
      return `${NAMES[row.kind]} older than ${pending.days} days will be deleted from ${pending.from.toISOString()} on; until then they are kept ${before}. Change it with updateRetention.`;
    });
  }

  /**
   * Applies chosen values where the notice period allows. @returns the values in effect, and the kinds that changed
   */
  async settle(): Promise<RetentionSettlement> {
    const held: Partial<Record<RetentionKind, Days>> = {};
    const changed: RetentionKind[] = [];
    for (const row of await this.rows()) {
      const changes = this.changesTo(row);
      const { heldDays, toldDays } = { ...row, ...changes };
      const values = [row.kind, heldDays, toldDays, changes?.isTold ?? false];
      if (changes) await this.scope.write(CHANGE, values);
      if (changes) changed.push(row.kind);
      held[row.kind] = heldDays;
    }
    return { held: held as Record<RetentionKind, Days>, changed };
  }

  private changesTo(row: Row): Changes | undefined {
    const wanted = this.wanted(row);
    const { heldDays, toldDays, due } = row;
    if (!isShorter(wanted, heldDays))
      return wanted === heldDays && toldDays === null ? undefined : { heldDays: wanted, ...NO_NOTICE };
    // A still shorter retention starts a new notice period.
    if (toldDays === null || isShorter(wanted, toldDays))
      return this.noticeDays === 0 ? { heldDays: wanted, ...NO_NOTICE } : { toldDays: wanted, isTold: true };
    if (due) return { heldDays: wanted, ...NO_NOTICE };
    return wanted === toldDays ? undefined : { toldDays: wanted };
  }

  private pendingOf({ kind, toldDays, toldAt }: Row): PendingRetention | undefined {
    if (toldDays === null || toldAt === null) return undefined;
    return { kind, days: toldDays, from: new Date(toldAt.getTime() + this.noticeDays * DAY_MS) };
  }

  private wanted({ kind, chosenDays }: Row): Days {
    return chosenDays ?? this.scope.ports.retention[kind];
  }

  private get noticeDays(): number {
    return this.scope.ports.retention.noticeDays;
  }

  /** One row per kind, created on first use. */
  private async rows(): Promise<Row[]> {
    const found = await this.read();
    if (found.length === KINDS.length) return found;
    // Initial values: the server's setting for events; forever for logs and recordings.
    const held = { LOGS: null, RECORDINGS: null, EVENTS: this.scope.ports.retention.EVENTS };
    for (const kind of KINDS)
      await this.scope
        .insert("retentions", { kind, heldDays: held[kind] })
        .onConflict(["organizationId", "kind"])
        .ignore();
    return this.read();
  }

  private async read(): Promise<Row[]> {
    return this.scope.read(ROWS, [this.noticeDays]);
  }
}

const ROWS = statement<Row>(({ db, all }) =>
  db.raw(`
  select ${all("retentions")}, coalesce(told_at < now() - $2 * interval '1 day', false) as due from retentions
  where retentions.organization_id = $1 order by kind`),
);

const CHANGE = statement(({ db }) =>
  db.raw(`
  with told as materialized (select case when $5 then now() end as since)
  update retentions set held_days = $3, told_days = $4,
    told_at = coalesce(told.since, case when $4::integer is not null then told_at end)
  from told where retentions.organization_id = $1 and kind = $2`),
);

const isShorter = (one: Days, other: Days): boolean => one !== null && (other === null || one < other);
