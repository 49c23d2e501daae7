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

/** The note of a copy that a move writes, until it is complete. */
export const MOVE_NOTE = "another database";

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
      hold.note === MOVE_NOTE
        ? "A move into this database runs or was interrupted: this database contains only part of the other one. Run `npm run move` again with the settings of the other one; it clears this one first."
        : "A restore into this database was interrupted: the database contains only part of the backup. Run `npm run restore` again; it clears the database first.",
    );
}

/** The message about a hold for operators. */
export function holdMessage({ reason, note, since, finishedAt }: Hold): string {
  const place = `${note} at ${since.toISOString()}`;
  if (reason === "RESTORED")
    return `HELD: restored from ${place}. Turns, calls, text messages and deliveries wait. \`npm run release\` sends them; \`npm run release -- --drop\` drops them.`;
  return finishedAt === null
    ? `HELD: a move to ${place} runs or was interrupted. This database still has everything, but sends nothing. Stop this server and run \`npm run move\` again, or run \`npm run release\` to keep using this database.`
    : `HELD: moved to ${place}. This database is out of date and sends nothing. Stop this server and set DATABASE_URL to the new database. Only to undo the move and use this database again, run \`npm run release\`.`;
}
