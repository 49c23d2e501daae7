import type { Knex } from "knex";

/** Why nothing goes out of this installation. */
export interface Hold {
  readonly id: string;
  readonly reason: "RESTORED" | "MOVED";
  /** What it was restored from, or moved to. */
  readonly note: string;
  readonly since: Date;
  /** Null while the copy is still being made. */
  readonly finishedAt: Date | null;
}

/** The channel on which a release is announced to every server process. */
export const RELEASE_CHANNEL = "parley_release";

/** The hold that stands; undefined when jobs may run. */
export async function currentHold(db: Knex): Promise<Hold | undefined> {
  const [hold] = await db<Hold & { releasedAt: Date | null }>("holds")
    .whereNull("releasedAt")
    .orderBy("since")
    .limit(1);
  return hold;
}

/** @throws Error when a restore into this database was cut short */
export async function refuseUnfinished(db: Knex): Promise<void> {
  const hold = await currentHold(db);
  if (hold?.reason === "RESTORED" && hold.finishedAt === null)
    throw new Error(
      "A restore into this database was interrupted: the database contains only part of the backup. Run `npm run restore` again; it clears the database first.",
    );
}

/** What an operator is told about a hold. */
export const toldOf = ({ reason, note, since }: Hold): string =>
  reason === "RESTORED"
    ? `HELD: restored from ${note} at ${since.toISOString()}. Turns, calls, text messages and deliveries wait. \`npm run release\` sends them; \`npm run release -- --drop\` drops them.`
    : `HELD: moved to ${note} at ${since.toISOString()}. This database sends nothing. \`npm run release\` ends the hold.`;
