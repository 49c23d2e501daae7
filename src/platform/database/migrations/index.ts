import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import type { Migration, OnlineStep } from "./online-step";

const load = createRequire(__filename);

/** Names of the migrations, such as `001-foundation`: the files of this folder that begin with a number. */
const names = readdirSync(__dirname)
  .flatMap((file) => /^(\d{3}-[^.]+)\.[jt]s$/.exec(file)?.[1] ?? [])
  .sort();

/** Every migration, in order. One that has landed is never edited. */
export const migrations: Readonly<Record<string, Migration>> = Object.fromEntries(
  names.map((name) => [name, load(`./${name}`) as Migration]),
);

/** The parts of all migrations that servers perform while they run, in order. */
export const onlineSteps: readonly OnlineStep[] = Object.values(migrations).flatMap(
  ({ online = [] }) => online,
);
