import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HEADERS, type Bench } from "./bench";
import type { Load } from "./load";
import { LoadGenerator } from "./processes";
import { ratio } from "./table";

/** Share of a core that each server may use. */
const SHARE = 0.25;
const PERIOD_US = 100_000;
const ROUNDS = 5;
const CONNECTIONS = 8;

/**
 * Compares two servers on one database with one, each capped at a quarter of a core, so that neither the database nor
 * the load generator is the limit. Needs root on Linux.
 */
export async function servers({ serve, databaseUrl, encryptionKeys, table, ids }: Bench): Promise<void> {
  const settings = { DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: encryptionKeys(), HOST: "127.0.0.1" };
  const [one, other] = [await serve(settings), await serve(settings)];
  const release = [cap(one.pid, "one"), cap(other.pid, "other")];
  const loads = [new LoadGenerator(), new LoadGenerator()] as const;
  const start = {
    query: `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`,
    variables: { input: { assistantId: ids[100], channel: "TEXT" } },
  };
  const json = { ...HEADERS, "Content-Type": "application/json" };
  const works = {
    "assistant by id": {
      method: "GET",
      path: `/rest/v1/assistants/${ids[100]!}`,
      headers: HEADERS,
      requests: 2_000,
    },
    "page of assistants": {
      method: "GET",
      path: "/rest/v1/assistants?page=2&take=20",
      headers: HEADERS,
      requests: 800,
    },
    "starting conversations": {
      method: "POST",
      ...{ path: "/graphql", headers: json, requests: 200 },
      body: JSON.stringify(start),
    },
  } satisfies Readonly<Record<string, Omit<Load, "origin" | "connections">>>;
  try {
    for (const [what, work] of Object.entries(works)) {
      const send = async (count: number) => {
        const each = [one, other]
          .slice(0, count)
          .map(({ url }, index) => loads[index]!.send({ ...work, origin: url, connections: CONNECTIONS }));
        return (count * work.requests) / Math.max(...(await Promise.all(each)));
      };
      await send(2); // warms up
      const rounds: { ours: number; baseline: number }[] = [];
      for (let round = 0; round < ROUNDS; round++)
        rounds.push({ baseline: await send(1), ours: await send(2) });
      table.add({ what: `two servers beside one, ${what}`, target: 1.8, ...ratio(rounds) });
    }
  } finally {
    await Promise.all([...loads, one, other].map((each) => each.stop()));
    release.forEach((free) => free());
  }
}

/** Caps the CPU time of a process by a control group, of either version. @returns a function that removes the group */
function cap(pid: number, name: string): () => void {
  const isNew = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const group = join(isNew ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", `parley-bench-${name}`);
  mkdirSync(group, { recursive: true });
  const most = SHARE * PERIOD_US;
  if (isNew) writeFileSync(join(group, "cpu.max"), `${most} ${PERIOD_US}`);
  else writeFileSync(join(group, "cpu.cfs_quota_us"), String(most));
  writeFileSync(join(group, "cgroup.procs"), String(pid));
  return () => rmdirSync(group);
}
