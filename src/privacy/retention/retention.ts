import type { Build, Scope } from "../../platform/database/scope";

export type RetentionKind = "LOGS" | "RECORDINGS" | "EVENTS";
const KINDS: readonly RetentionKind[] = ["LOGS", "RECORDINGS", "EVENTS"];
const NAMES = { LOGS: "Logs", RECORDINGS: "Recordings", EVENTS: "Events" } as const;

/** Days for which things are kept; null: for ever. */
type Days = number | null;

/** For how long an organization keeps things. */
export interface RetentionState {
  readonly logsDays: Days;
  readonly recordingsDays: Days;
  readonly eventsDays: Days;
  readonly pending: readonly PendingRetention[];
}

/** A shorter retention that deletes nothing yet. */
export interface PendingRetention {
  readonly kind: RetentionKind;
  readonly days: number;
  readonly from: Date;
}

/** What is left out stays as it was; null: as the settings say. */
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
  /** Whether the notice has been there for long enough, by the database's clock. */
  readonly due: boolean;
}

interface Settled {
  readonly held: Readonly<Record<RetentionKind, Days>>;
  readonly changed: readonly RetentionKind[];
}

interface Changes {
  readonly heldDays?: Days;
  readonly toldDays?: Days;
  /** That the notice begins now. */
  readonly isTold?: true;
}

const UNTOLD = { toldDays: null };
const DAY_MS = 86_400_000;

/**
 * How long an organization keeps logs, recordings and events. A shorter time holds only after the organization was told
 * of it for some days; a longer one holds at once.
 */
export class Retention {
  constructor(private readonly scope: Scope) {}

  async current(): Promise<RetentionState> {
    const rows = await this.rows();
    const wanted = (kind: RetentionKind) => this.wanted(rows.find((row) => row.kind === kind)!);
    return {
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

  /** What will be deleted, and from when on. */
  async warnings(): Promise<string[]> {
    const rows = await this.rows();
    return rows.flatMap((row) => {
      const pending = this.pendingOf(row);
      if (!pending) return [];
      const before = row.heldDays === null ? "for ever" : `for ${row.heldDays} days`;
      return `${NAMES[row.kind]} older than ${pending.days} days will be deleted from ${pending.from.toISOString()} on; until then they are kept ${before}. Change it with updateRetention.`;
    });
  }

  /** Lets the chosen days hold where they may. @returns the days that hold now, and the kinds whose row has changed */
  async settle(): Promise<Settled> {
    const held: Partial<Record<RetentionKind, Days>> = {};
    const changed: RetentionKind[] = [];
    for (const row of await this.rows()) {
      const changes = this.changesTo(row);
      const { heldDays, toldDays } = { ...row, ...changes };
      const values = [row.kind, heldDays, toldDays, changes?.isTold ?? false];
      if (changes) await this.scope.write("retention.change", change, values);
      if (changes) changed.push(row.kind);
      held[row.kind] = heldDays;
    }
    return { held: held as Record<RetentionKind, Days>, changed };
  }

  private changesTo(row: Row): Changes | undefined {
    const wanted = this.wanted(row);
    const { heldDays, toldDays, due } = row;
    if (!isShorter(wanted, heldDays))
      return wanted === heldDays && toldDays === null ? undefined : { heldDays: wanted, ...UNTOLD };
    // Of something still shorter the organization is told anew.
    if (toldDays === null || isShorter(wanted, toldDays))
      return this.noticeDays === 0 ? { heldDays: wanted, ...UNTOLD } : { toldDays: wanted, isTold: true };
    if (due) return { heldDays: wanted, ...UNTOLD };
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

  /** One row of each kind; made when they are first asked for. */
  private async rows(): Promise<Row[]> {
    const found = await this.read();
    if (found.length === KINDS.length) return found;
    // Events have always been kept for the days of the settings, logs and recordings for ever.
    const held = { LOGS: null, RECORDINGS: null, EVENTS: this.scope.ports.retention.EVENTS };
    for (const kind of KINDS)
      await this.scope
        .insert("retentions", { kind, heldDays: held[kind] })
        .onConflict(["organizationId", "kind"])
        .ignore();
    return this.read();
  }

  private async read(): Promise<Row[]> {
    return this.scope.named<Row>("retention.rows", rows, [this.noticeDays]);
  }
}

const rows: Build = (_table, _$, db, all) =>
  db.raw(`
  select ${all("retentions")}, coalesce(told_at < now() - $2 * interval '1 day', false) as due from retentions
  where retentions.organization_id = $1 order by kind`);

const change: Build = (_table, _$, db) =>
  db.raw(`
  update retentions set held_days = $3, told_days = $4,
    told_at = case when $5 then now() when $4::integer is not null then told_at end
  where retentions.organization_id = $1 and kind = $2`);

const isShorter = (one: Days, other: Days): boolean => one !== null && (other === null || one < other);
