import { sqlOf, Statement, type Pieces, type Query } from "./statement";

/** The statements of a change. */
export interface Change<R> {
  /** Changes rows and returns them. */
  readonly rows: Query<R>;
  /** Statements that run after it, by the name of their part of the `with` clause. */
  readonly parts?: Readonly<Record<string, Query<unknown>>>;
}

/** Number of values of the entry, before those of the change. */
const ENTRY_VALUES = 2;

/**
 * A change that one statement makes together with the audit entry of its operation, so that it needs no transaction.
 * Without a changed row nothing is recorded.
 */
export class AuditedStatement<R> {
  /** The change alone. */
  readonly alone: Statement<R>;
  /** The change with its entry, whose id and content are the first two values. */
  readonly withEntry: Statement<R>;

  constructor(change: (pieces: Pieces) => Change<R>, isPrepared = true) {
    this.alone = new Statement<R>(
      (pieces) => {
        const { rows, parts = {} } = change(pieces);
        return pieces.db.raw(textOf(rows, parts)) as unknown as Query<R>;
      },
      { isPrepared },
    );
    this.withEntry = new Statement<R>(
      (pieces) => {
        const { rows, parts = {} } = change({
          ...pieces,
          $: (position) => pieces.$(position + ENTRY_VALUES),
        });
        const all = { ...parts, recorded: pieces.db.raw(recordOf(pieces)) };
        return pieces.db.raw(textOf(rows, all)) as unknown as Query<R>;
      },
      { isPrepared },
    );
  }
}

const recordOf = ({ home }: Pieces) => `insert into audit_outbox (organization_id, id, entry)
  select ${home.id}, $2, $3::jsonb from changed ${home.join} limit 1 on conflict do nothing`;

/** The change comes first: a Citus cluster runs the parts one after another, and rows need those that they refer to. */
function textOf(rows: Query<unknown>, parts: Readonly<Record<string, Query<unknown>>>): string {
  const texts = Object.entries(parts).map(([name, query]) => `, ${name} as (${sqlOf(query)})`);
  return texts.length === 0
    ? sqlOf(rows)
    : `with changed as (${sqlOf(rows)})${texts.join("")} select * from changed`;
}
