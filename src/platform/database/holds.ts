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
  const [hold] = (await db("holds").whereNull("releasedAt").orderBy("since").limit(1)) as Hold[];
  return hold;
}

/** @throws Error when a restore into this database was cut short */
export async function refuseUnfinished(db: Knex): Promise<void> {
  const hold = await currentHold(db);
  if (hold?.reason === "RESTORED" && hold.finishedAt === null)
    throw new Error(
      "A restore into this database was cut short, so it holds a part of the backup only. Run `npm run restore` again: it clears what is there.",
    );
}

/** What an operator is told about a hold. */
export const toldOf = ({ reason, note, since }: Hold): string =>
  reason === "RESTORED"
    ? `HELD: restored from ${note} at ${since.toISOString()}. Turns, calls, texts and deliveries wait: \`npm run release\` sends them, \`npm run release -- --drop\` drops them.`
    : `HELD: moved to ${note} at ${since.toISOString()}. Nothing is sent from here; \`npm run release\` takes that back.`;
