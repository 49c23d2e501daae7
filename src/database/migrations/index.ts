import type { Knex } from "knex";
import * as foundation from "./001-foundation";
import * as conversations from "./002-conversations";

/** Every migration, in order. One that has landed is never edited. */
export const migrations: Readonly<Record<string, Knex.Migration>> = {
  "001-foundation": foundation,
  "002-conversations": conversations,
};
