import type { Bench } from "../bench";
import { measureDemands, type Demand, type Demands } from "./demands";
import { simulate, type Installation, type Kind } from "./simulate";

/** Work that comes with each message of a person, beside its turn: what dashboards and legacy clients read meanwhile. */
const BESIDE = { read: 5, page: 1, search: 0.1, dashboard: 0.05, analytics: 0.02 } as const;
/** Pieces of an operation between which it changes from the server to the database and back. */
const PIECES = { turn: 8, read: 1, page: 1, search: 2, dashboard: 3, analytics: 2 } as const;
/** Time until a model has answered, in ms. */
const MODEL_MS = 1_500;
/** Duration that 99 of 100 operations keep while an installation is not saturated, in ms. */
const MOST_P99 = 250;
const INSTALLATIONS: readonly Installation[] = [
  { servers: 1, databaseCores: 1 },
  { servers: 2, databaseCores: 1 },
  { servers: 2, databaseCores: 2 },
  { servers: 4, databaseCores: 2 },
  { servers: 4, databaseCores: 4 },
  { servers: 8, databaseCores: 4 },
  { servers: 16, databaseCores: 8 },
  { servers: 32, databaseCores: 16 },
];

/**
 * Measures what operations take, and simulates installations with it: how many messages of persons a second each
 * carries, and what is saturated first.
 */
export async function sizing(bench: Bench): Promise<void> {
  const { table } = bench;
  const { demands, bytesPerMessage } = await measureDemands(bench);
  for (const [name, { server, database }] of Object.entries(demands)) {
    table.add({ what: `${name}, of a core of the server`, ours: server, unit: "ms" });
    table.add({ what: `${name}, of a core of the database`, ours: database, unit: "ms" });
  }
  table.add({
    what: "database by message, with event, delivery and indexes",
    ours: bytesPerMessage,
    unit: "B",
  });
  for (const installation of INSTALLATIONS) {
    const rate = mostOf(demands, installation);
    const { server, database, p99 } = simulate(kindsOf(demands, rate), installation);
    const { servers, databaseCores } = installation;
    const shares = `servers ${percent(server)}, database ${percent(database)}, p99 ${p99.toFixed(0)} ms`;
    const what = `turns a second, ${servers} servers, ${databaseCores} cores of the database (${shares})`;
    table.add({ what, ours: rate, unit: "/s" });
  }
}

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;

/** The most turns a second with which the 99th percentile stays below its limit, to 2 %. */
function mostOf(demands: Demands, installation: Installation): number {
  const { servers, databaseCores } = installation;
  const all = ["turn", ...Object.keys(BESIDE)] as (keyof Demands)[];
  const share = (of: keyof Demand) =>
    all.reduce((sum, name) => sum + demands[name][of] * (name === "turn" ? 1 : BESIDE[name]), 0) / 1_000;
  let [carried, tooMuch] = [0, Math.min(servers / share("server"), databaseCores / share("database"))];
  while (tooMuch - carried > 0.02 * tooMuch) {
    const rate = (carried + tooMuch) / 2;
    if (simulate(kindsOf(demands, rate), installation).p99 <= MOST_P99) carried = rate;
    else tooMuch = rate;
  }
  return carried;
}

function kindsOf(demands: Demands, turns: number): Kind[] {
  const beside = Object.entries(BESIDE) as [keyof typeof BESIDE, number][];
  return [
    { perSecond: turns, steps: stepsOf(demands.turn, PIECES.turn, MODEL_MS) },
    ...beside.map(([name, each]) => ({
      perSecond: turns * each,
      steps: stepsOf(demands[name], PIECES[name]),
    })),
  ];
}

/** The server and the database by turns; the wait for a model is in the middle. */
function stepsOf({ server, database }: Demand, pieces: number, waitMs = 0): Kind["steps"] {
  const steps: Kind["steps"][number][] = [];
  for (let piece = 0; piece < pieces; piece++) {
    steps.push({ at: "server", ms: server / (pieces + 1) }, { at: "database", ms: database / pieces });
    if (waitMs > 0 && piece === Math.floor(pieces / 2)) steps.push({ at: "elsewhere", ms: waitMs });
  }
  return [...steps, { at: "server", ms: server / (pieces + 1) }];
}
