import type { Knex } from "knex";
import * as foundation from "./001-foundation";

/** Every migration, in order. One that has landed is never edited. */
export const migrations: Readonly<Record<string, Knex.Migration>> = {
  "001-foundation": foundation,
};
