import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "./client";
import { Engine } from "./engine";
import { FAULTS } from "./faults";
import { Follower } from "./follower";
import { Installation, SECRET_KEY } from "./installation";
import { check, drained, followed, type Invariant } from "./invariants";
import { memoryInvariant, report, type FaultRun, type MemorySample } from "./report";
import { Traffic } from "./traffic";

const MINUTE_MS = 60_000;
const MEMORY_SAMPLE_MS = 5_000;
/** Time for servers to become ready after a fault, in ms. */
const RECOVERY_TIMEOUT_MS = 60_000;

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
const minutes = Number(values.minutes);
if (!Number.isInteger(minutes) || minutes < 2)
  throw new Error(`--minutes must be a whole number from 2; got "${values.minutes}".`);

/** Runs one fault per minute, except in the first and the last minute. */
async function disturb(installation: Installation, began: number): Promise<FaultRun[]> {
  const runs: FaultRun[] = [];
  for (let number = 1; number < minutes; number++) {
    await sleep(Math.max(0, began + number * MINUTE_MS - performance.now()));
    const fault = FAULTS[(number - 1) % FAULTS.length]!;
    console.error(`minute ${number}: ${fault.name}`);
    await fault.run(installation);
    runs.push({ name: fault.name, atMinute: number, recoverySeconds: await recovery(installation) });
  }
  return runs;
}

async function recovery({ servers }: Installation): Promise<number | undefined> {
  const began = performance.now();
  for (; performance.now() - began < RECOVERY_TIMEOUT_MS; await sleep(200)) {
    const ready = await Promise.all(servers.map((server) => server.isReady()));
    if (ready.every(Boolean)) return (performance.now() - began) / 1_000;
  }
  return undefined;
}

async function main(): Promise<boolean> {
  const installation = new Installation();
  try {
    await installation.start();
    const client = new Client(installation.servers, { "X-API-Key": SECRET_KEY });
    const follower = new Follower(installation);
    const engine = new Engine(installation, client);
    const traffic = new Traffic(installation, client);
    await traffic.start();
    const began = performance.now();
    const samples: MemorySample[] = [];
    const timer = setInterval(() => {
      const minute = (performance.now() - began) / MINUTE_MS;
      samples.push({ minute, mebibytes: installation.servers[2]!.memory() });
    }, MEMORY_SAMPLE_MS);
    const faults = await disturb(installation, began);
    await sleep(Math.max(0, began + minutes * MINUTE_MS - performance.now()));
    clearInterval(timer);
    await traffic.stop();
    const drainSeconds = await drained(installation);
    await engine.stop();
    const invariants: Invariant[] = [
      await followed(installation, follower),
      ...(await check(installation, client, traffic.acknowledged)),
      {
        name: "no answer was a fault of the service",
        checked: client.latenciesMs.length,
        broken: client.violations,
      },
      {
        name: "no server ended by itself",
        checked: installation.servers.length,
        broken: installation.servers.flatMap(({ crashes }) => crashes),
      },
      {
        name: "all servers recovered from every fault",
        checked: faults.length,
        broken: faults.filter((fault) => fault.recoverySeconds === undefined).map(({ name }) => name),
      },
      { name: "the backlog drained", checked: 1, broken: drainSeconds === undefined ? ["it did not"] : [] },
      memoryInvariant(samples, minutes),
    ];
    console.log(
      report({ minutes, installation, client, traffic, follower, faults, drainSeconds, invariants }),
    );
    return invariants.every(({ broken }) => broken.length === 0);
  } finally {
    await installation.stop();
  }
}

main().then(
  (held) => process.exit(held ? 0 : 1),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
