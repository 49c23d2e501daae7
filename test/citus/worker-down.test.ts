import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { Api, type Answer } from "../support/api";
import { newAssistant, newChat, said, say } from "../support/factories";
import type { ReceivedRequest } from "../support/receiver";
import { emptyFolder, runToEnd, SERVER_TIMEOUT_MS, startServer } from "../support/server";
import { until } from "../support/until";
import { createWorld, type Organization, type World } from "./world";

const TIMEOUT_MS = 4 * SERVER_TIMEOUT_MS;
const RETRY_TIMEOUT_MS = 20_000;
const MESSAGES = `query ($id: ID!) { chat(id: $id) { messages(last: 50) { id role content } } }`;

interface Message {
  readonly id: string;
  readonly role: string;
  readonly content: string;
}

const messages = async ({ api }: Organization, id: string) =>
  (await api.gql(MESSAGES, { id })).chat.messages as Message[];

let asked = 0;
/** Asks, and waits for the answer and for the deliveries of both. */
async function converse(organization: Organization, chatId: string): Promise<void> {
  const { api, receiver } = organization;
  const text = `Question ${++asked}?`;
  const question = await say(api, chatId, text, "USER");
  await until(async () => {
    const all = await messages(organization, chatId);
    const at = all.findIndex(({ id }) => id === question);
    return all.slice(at + 1).some(({ content }) => content === "An answer.");
  });
  await receiver.until(1, ({ text: body }) => body.includes(text));
}

/** Expects the answer that clients repeat later. */
function expectUnavailable({ status, headers, text }: Answer): void {
  expect([status, text]).toEqual([503, expect.any(String)]);
  expect(headers.get("retry-after")).toMatch(/^\d+$/);
}

describe("while a worker is down", () => {
  let world: World;
  let away: Organization;
  let living: Organization;
  let chats: { away: string; living: string };
  beforeAll(async () => {
    world = await createWorld();
    [away, living] = world.organizations;
    chats = {
      away: await newChat(away.api, away.assistantId),
      living: await newChat(living.api, living.assistantId),
    };
    await Promise.all([converse(away, chats.away), converse(living, chats.living)]);
    await world.cluster.workers[0]!.kill();
  }, TIMEOUT_MS);

  test("its organizations get 503 by REST, and UNAVAILABLE in GraphQL", async () => {
    const { api, assistantId } = away;
    for (const request of [
      () => api.request("GET", "/rest/v1/assistants"),
      () => api.request("PATCH", `/rest/v1/assistants/${assistantId}`, { name: "Other" }),
      () => api.request("POST", "/rest/v1/ai-chats/messages", said(chats.away, "Lost")),
    ])
      expectUnavailable(await request());
    const error = await api.gqlError("{ events(first: 1) { nodes { id } } }");
    expect(error.extensions.code).toBe("UNAVAILABLE");
  });

  test("organizations of other workers continue", async () => {
    const { api } = living;
    await converse(living, chats.living);
    await converse(living, await newChat(api, await newAssistant(api)));
  });

  test("failed deliveries of other organizations are retried", async () => {
    const { api, receiver } = living;
    const isRefused = ({ text }: ReceivedRequest) => text.includes("Refused once");
    receiver.answer((res, received) => {
      const isFirst = receiver.received.filter(isRefused).length === 1;
      res.writeHead(isRefused(received) && isFirst ? 500 : 200).end();
    });
    await say(api, chats.living, "Refused once");
    await receiver.until(2, isRefused, RETRY_TIMEOUT_MS);
  });

  test("jobs that look at all organizations do the work of the others", async () => {
    const { database } = world;
    const sweeps = await database.query<{ call: string }>(`
      select format('%I(%s)', p.proname, (
        select string_agg(case type when 'timestamptz'::regtype then 'now()' else quote_literal('0') end, ', ')
        from unnest(p.proargtypes) type)) as call
      from pg_proc p where 'citus.node_connection_timeout=1000' = any(p.proconfig)`);
    expect(sweeps.rows.length).toBeGreaterThan(10);
    const others = ["readings()", "keep_facts(10)", "recount_facts(10)", "repair_queues('', '', '', '', 10)"];
    for (const call of [...sweeps.rows.map(({ call }) => call), ...others.map((call) => `parley_${call}`)])
      await database.query(`select * from ${call}`);
    const { rows } = await database.query<{ organization_id: string }>("select * from parley_unmeasured(0)");
    expect(rows.map(({ organization_id: id }) => id)).not.toContain(away.id);
    // Its sizes may have been measured before.
    await database.query("update stored_sizes set measured_at = null where organization_id = $1", [
      living.id,
    ]);
    const again = await database.query<{ organization_id: string }>("select * from parley_unmeasured(0)");
    expect(again.rows.map(({ organization_id: id }) => id)).toContain(living.id);
  });

  test("a server starts and serves the others", async () => {
    const server = await startServer({ ...world.env, DATA_DIR: emptyFolder() });
    await converse({ ...living, api: new Api(server.url, living.api.headers) }, chats.living);
  });

  test("commands name the worker", async () => {
    const commands = [
      ["cli/org-create", "--name", "One"],
      ["cli/backup", join(emptyFolder(), "backup")],
    ] as const;
    const worker = `127.0.0.1:${world.cluster.workers[0]!.port}`;
    for (const [program, ...options] of commands) {
      const { code, stderr } = await runToEnd(program, world.env, ...options);
      const expected = `A worker of the Citus cluster, ${worker}, does not answer: Connection refused. Start it`;
      expect([code, stderr]).toEqual([1, expect.stringContaining(expected)]);
    }
  });

  test("its organizations continue after its restart", async () => {
    await world.cluster.workers[0]!.start();
    await until(async () => (await away.api.request("GET", "/rest/v1/assistants")).status === 200);
    await converse(away, chats.away);
  });
});
