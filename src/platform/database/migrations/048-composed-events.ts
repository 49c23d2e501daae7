import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/**
 * Events with a conversation have a recipe instead of its copy: a message then adds only its own size. The recipe is
 * `json`, because `jsonb` would not keep the order of its fields, which the body has too.
 *
 * - `recipe`: says how the body is composed from the messages of the chat.
 * - `digest`: SHA-256 of the composed body, in base64url.
 * - `body`: null until it must be kept, because a first attempt to deliver it has failed.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table events add column recipe json, add column digest text collate "C"`);
  await db.raw(`alter table events alter column body drop not null`);
}

/** Older servers deliver stored bodies only. Servers that know recipes list this word in the name of their listener. */
export const online: readonly OnlineStep[] = [{ kind: "switch", name: "compose_events", mark: "recipe" }];

/** Events without a body cannot be kept. */
export async function down(db: Knex): Promise<void> {
  await db.raw(`delete from events where body is null`);
  await db.raw(`alter table events alter column body set not null`);
  await db.raw(`alter table events drop column recipe, drop column digest`);
}
