import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { importerOf } from "../support/importers";
import { RUN, runToEnd } from "../support/server";
import { LONG } from "../support/suite";
import { until } from "../support/until";

const [ASSISTANTS, LOGS] = LONG ? [200, 10_000] : [20, 500];
const PER_ASSISTANT = LOGS / ASSISTANTS;
/** Time for the long suite, in milliseconds. */
const TIMEOUT_MS = 900_000;

const source = useApp();
const target = useApp();
const assistants: string[] = [];
let from: Api;
let secretKey: string;

const STORE =
  "mutation ($assistantId: ID!, $logs: [ImportLogInput!]!) { importLogs(assistantId: $assistantId, logs: $logs) { imported } }";

beforeAll(async () => {
  ({ api: from, secretKey } = await source.otherOrganization());
  const importer = await importerOf(from);
  for (let index = 0; index < ASSISTANTS; index++) {
    const assistantId = await newAssistant(from, { name: `Assistant ${index}` });
    assistants.push(assistantId);
    const logs = Array.from({ length: PER_ASSISTANT }, (_, n) => logOf(index, n));
    for (let at = 0; at < logs.length; at += 50)
      await importer.gql(STORE, { assistantId, logs: logs.slice(at, at + 50) });
  }
}, TIMEOUT_MS);

/** A conversation of ten messages. */
function logOf(assistant: number, index: number) {
  const start = Date.UTC(2024, 0, 1) + (assistant * PER_ASSISTANT + index) * 60_000;
  const messages = Array.from({ length: 10 }, (_, n) => ({
    role: n % 2 === 0 ? "USER" : "ASSISTANT",
    content: `Message ${n} of conversation ${index} with assistant ${assistant}. ${"words ".repeat(30)}`,
    createdAt: new Date(start + n * 1_000).toISOString(),
  }));
  return { id: `${assistant}/${index}`, type: "TEXT", createdAt: new Date(start).toISOString(), messages };
}

const countIn = async (api: Api): Promise<number> =>
  (await api.gql("{ logs(first: 1) { totalCount } }")).logs.totalCount;

test(
  `${ASSISTANTS} assistants and ${LOGS} logs from a running server, in spite of a kill: the same lists and logs`,
  async () => {
    const { api } = await target.otherOrganization();
    const { headers } = await importerOf(api);
    const options = ["rest", "--from", source.url, "--from-key", secretKey];
    const env = { PARLEY_URL: target.url, PARLEY_KEY: headers["X-API-Key"]! };
    const child = spawn(process.execPath, [RUN, "cli/import", ...options], { env, stdio: "ignore" });
    const ended = once(child, "exit");
    await until(async () => (await countIn(api)) > LOGS / 3, TIMEOUT_MS);
    child.kill("SIGKILL");
    expect(await ended).toEqual([null, "SIGKILL"]);
    const before = await countIn(api);
    expect(before).toBeLessThan(LOGS);
    const { code, stdout } = await runToEnd("cli/import", env, ...options);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.any(String) });
    expect(stdout).toContain(`logs: ${LOGS - before} imported, ${before} already here`);
    expect(await countIn(api)).toBe(LOGS);
    const old = api.as({ "X-API-Key": secretKey });
    for (const path of pathsToCompare())
      expect([path, await old.get(path, 200)]).toEqual([path, await from.get(path, 200)]);
  },
  TIMEOUT_MS,
);

/** All pages of assistants and logs, and the last log of each assistant. */
function* pathsToCompare(): Generator<string> {
  for (let page = 1; page <= Math.ceil(ASSISTANTS / 100); page++)
    yield `/rest/v1/assistants?order=asc&take=100&page=${page}`;
  for (const [index, id] of assistants.entries()) {
    yield `/rest/v1/assistants/${id}/chat`;
    for (const order of ["asc", "desc"]) yield `/rest/v1/assistants/${id}/logs?order=${order}&take=100`;
    yield `/rest/v1/assistants/${id}/log/${encodeURIComponent(`${index}/${PER_ASSISTANT - 1}`)}`;
  }
}
