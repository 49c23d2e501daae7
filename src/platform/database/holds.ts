import type { Knex } from "knex";

/** The reason why this installation sends nothing. */
export interface Hold {
  readonly id: string;
  readonly reason: "RESTORED" | "MOVED";
  /** The source of the restore, or the target of the move. */
  readonly note: string;
  readonly since: Date;
  /** Null while the copy is incomplete. */
  readonly finishedAt: Date | null;
}

/** Notification channel that announces a release to all servers. */
export const RELEASE_CHANNEL = "parley_release";

/** The current hold; undefined if jobs may run. */
export async function currentHold(db: Knex): Promise<Hold | undefined> {
  const [hold] = await db<Hold & { releasedAt: Date | null }>("holds")
    .whereNull("releasedAt")
    .orderBy("since")
    .limit(1);
  return hold;
}

/** @throws Error if a restore into this database was interrupted */
export async function refuseUnfinished(db: Knex): Promise<void> {
  const hold = await currentHold(db);
  if (hold?.reason === "RESTORED" && hold.finishedAt === null)
    throw new Error(
      "A restore into this database was interrupted: the database contains only part of the backup. Run `npm run restore` again; it clears the database first.",
    );
}

/** The message about a hold for operators. */
export const holdMessage = ({ reason, note, since }: Hold): string =>
  reason === "RESTORED"
    ? `HELD: restored from ${note} at ${since.toISOString()}. Turns, calls, text messages and deliveries wait. \`npm run release\` sends them; \`npm run release -- --drop\` drops them.`
    : `HELD: moved to ${note} at ${since.toISOString()}. This database is out of date and sends nothing. Stop this server and set DATABASE_URL to the new database. Only to undo the move and use this database again, run \`npm run release\`.`;
