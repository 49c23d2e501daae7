import { beforeEach, describe, expect, test } from "@jest/globals";
import pino from "pino";
import { chainOf } from "../../src/account/audit/audit-export";
import { AuditLog } from "../../src/account/audit/audit-log";
import { verifyChain } from "../../src/account/audit/verify";
import { AuditSealer } from "../../src/worker/audit-sealer/audit-sealer";
import { enforceRetention } from "../../src/privacy/retention/enforce";
import { removeOldVersions } from "../../src/assistants/versions/remove-old-versions";
import { periodicTasks, slowTasks, soleTasks, tasks } from "../../src/worker/tasks";
import { WebhookDestinations } from "../../src/events/webhooks/destinations";
import type { Api } from "../support/api";
import { earlier } from "../support/earlier";
import { useApp } from "../support/app";
import { auditRows, recording, type AuditRow } from "../support/audit";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { until } from "../support/until";
import { connect } from "../support/sms";

/** The tests run the jobs themselves. */
const running = useApp({ WORKER: "off", RETENTION_NOTICE_DAYS: "0", QUOTA_VERSIONS: "1" });
let api: Api;
let organizationId: string;
let assistantId: string;
beforeEach(async () => {
  ({ api, organizationId } = await running.otherOrganization());
  assistantId = await quietAssistant(api);
});

const scope = () => running.app.database.scope(organizationId);
const age = (table: string, column: string, days: number) =>
  running.database.query(
    `update ${table} set ${column} = ${earlier(column, "$2 * interval '1 day'")} where organization_id = $1`,
    [organizationId, days],
  );

/** An ended chat with two messages. */
async function log(): Promise<string> {
  const id = await newChat(api, assistantId, { uniqueId: "zoe" });
  for (const words of ["Some words", "More words"]) await say(api, id, words);
  await endChat(api, id);
  return id;
}

/** Prepares data that a job changes. @returns the job, and the expected entry of the audit log */
type Case = () => Promise<{
  readonly run: () => Promise<unknown>;
  readonly expected: readonly (Partial<AuditRow> & { readonly counts?: Record<string, number> })[];
}>;

const ofMany = (operation: string, recordType: string, counts: Record<string, number>) => ({
  operation,
  recordType,
  recordId: null,
  counts,
});

const RECORDED: Readonly<Record<string, Case>> = {
  "retention.enforce": async () => {
    await log();
    await api.gql("mutation { updateRetention(input: { logsDays: 30, eventsDays: 10 }) { logsDays } }");
    const left = await newChat(api, assistantId);
    for (const column of ["started_at", "ended_at"]) await age("chats", column, 40);
    await age("events", "created_at", 20);
    const [{ count }] = (await running.database.query<{ count: number }>(
      "select count(*)::int as count from events where organization_id = $1 and chat_id <> $2",
      [organizationId, left],
    )) as [{ count: number }];
    return {
      run: () => enforceRetention(running.app.database),
      expected: [
        ofMany("retention.enforce", "Log", { events: count, messages: 2, chats: 1 }),
        ofMany("retention.enforce", "Event", { events: 2 }),
      ],
    };
  },
  "assistants.removeVersions": async () => {
    for (const name of ["One", "Two"]) await api.patch(`/rest/v1/assistants/${assistantId}`, { name }, 200);
    await age("assistant_versions", "created_at", 1);
    const { assistant } = await api.gql("query ($id: ID!) { assistant(id: $id) { version { number } } }", {
      id: assistantId,
    });
    return {
      run: () => removeOldVersions(running.app.database),
      expected: [
        ofMany("assistants.removeVersions", "Assistant", { versions: assistant.version.number - 1 }),
      ],
    };
  },
  "sms.expire": async () => {
    const { id } = await connect({ api }, [assistantId]);
    await running.database.query(
      `insert into sms_received (organization_id, message_sid, connection_id, sms)
       select $1, 'old-' || n, $2, '{}' from generate_series(1, 7) n`,
      [organizationId, id],
    );
    await age("sms_received", "created_at", 8);
    return {
      run: () => periodicTasks["sms.expire"].run(running.app.database),
      expected: [ofMany("sms.expire", "Text", { received: 7 })],
    };
  },
  "erasure.run": async () => {
    await log();
    const { forgetEndUser } = await api.gql('mutation { forgetEndUser(uniqueId: "zoe") { id } }');
    const { id: erasureId } = forgetEndUser as { id: string };
    return {
      run: () => slowTasks["erasure.run"].run(scope(), { erasureId }),
      expected: [{ operation: "erasure.run", recordType: "ForgetReceipt", recordId: erasureId }],
    };
  },
  "export.expire": async () => {
    const { exportEndUser } = await api.gql('mutation { exportEndUser(uniqueId: "zoe") { id } }');
    const { id } = exportEndUser as { id: string };
    await running.database.query(
      "update end_user_exports set status = 'DONE', archive_id = 'a', expires_at = now() - interval '1 hour' where id = $1",
      [id],
    );
    return {
      run: () => periodicTasks["export.expire"].run(running.app.database),
      expected: [{ operation: "export.expire", recordType: "EndUserExport", recordId: id }],
    };
  },
  "chat.endIdle": async () => {
    for (let n = 0; n < 25; n++) await newChat(api, assistantId);
    await age("chats", "last_message_at", 1);
    await age("chats", "quiet_from", 1);
    return {
      run: () =>
        periodicTasks["chat.endIdle"].run(
          running.app.database,
          { idleMinutes: 30 },
          new AbortController().signal,
        ),
      expected: [ofMany("chat.endIdle", "Chat", { chats: 20 }), ofMany("chat.endIdle", "Chat", { chats: 5 })],
    };
  },
  "call.watch": async () => {
    const { webCallUrl } = await api.post("/rest/v1/call/web", { assistantId }, 200);
    const chatId = new URL(webCallUrl as string).searchParams.get("chat")!;
    return {
      run: () => tasks["call.watch"].run(scope(), { chatId }),
      expected: [{ operation: "call.watch", recordType: "Call", recordId: chatId, fields: [] }],
    };
  },
};

/** Background work that is not a task of the worker. */
const BESIDE: Readonly<Record<string, Case>> = {
  "the end of a destination that is gone": async () => {
    const input = { url: "https://example.com/gone", secret: "s" };
    const { id } = await api.post("/rest/v1/settings", input, 201);
    const gone = { kind: "answered", status: 410, milliseconds: 5, body: "" } as never;
    return {
      run: async () => {
        await scope().of(WebhookDestinations).recordOutcome(id, gone, false, null);
        await scope().of(WebhookDestinations).recordOutcome(id, gone, false, null);
      },
      expected: [
        {
          operation: "webhook.disable",
          recordType: "WebhookDestination",
          recordId: id,
          fields: [{ name: "enabled" }],
        },
      ],
    };
  },
};

const CONTINUES = "continues an operation that is recorded itself";
const DERIVED = "derives rows from others, without a change that anybody sees";
/** Tasks that record nothing, and why. */
const WITHOUT_RECORD: Readonly<Record<string, string>> = {
  "sms.receive": CONTINUES,
  "sms.tell": CONTINUES,
  "sms.send": CONTINUES,
  "call.start": CONTINUES,
  "call.hangUp": CONTINUES,
  "call.erase": CONTINUES,
  "chat.sweep": CONTINUES,
  "deliveries.remove": CONTINUES,
  "sms.remove": CONTINUES,
  "export.run": CONTINUES,
  "export.remove": CONTINUES,
  "provider.erase": CONTINUES,
  "chat.turn": CONTINUES,
  "erasure.resume": CONTINUES,
  "file.index": DERIVED,
  "knowledge.embed": DERIVED,
  "event.sequence": DERIVED,
  "facts.keep": DERIVED,
  "facts.sum": DERIVED,
  "logs.count": DERIVED,
  "deliveries.sum": DERIVED,
  "assistants.versions": DERIVED,
  "size.measure": DERIVED,
};

describe("the audit log records", () => {
  test("every task except those with a stated reason", () => {
    const all = Object.keys({ ...tasks, ...soleTasks, ...slowTasks, ...periodicTasks });
    expect([...Object.keys(RECORDED), ...Object.keys(WITHOUT_RECORD)].sort()).toEqual(all.sort());
  });

  test.each(Object.entries({ ...RECORDED, ...BESIDE }))(
    "%s, with the number of rows, and nothing if no row changes",
    async (_, prepare) => {
      const { run, expected } = await prepare();
      const { rows } = await recording(running.database, organizationId, run);
      const shown = rows.map(({ fields, ...row }) => ({
        ...row,
        fields,
        counts: Object.fromEntries(fields.map(({ name, count }) => [name, count])),
      }));
      expect(shown).toMatchObject(
        expected.map((one) => ({ ...one, kind: "CHANGE", actor: "SYSTEM", interface: "JOB" })),
      );
      expect((await recording(running.database, organizationId, run)).rows).toEqual([]);
    },
  );

  test("the number of rows in its chain and in GraphQL", async () => {
    const { run } = await RECORDED["sms.expire"]!();
    await run();
    const { auditEvents } = await api.gql(
      '{ auditEvents(filter: { operation: "sms.expire" }) { nodes { fields { name digest count } } } }',
    );
    expect(auditEvents.nodes).toEqual([{ fields: [{ name: "received", digest: null, count: 7 }] }]);
    const changed = `update audit_events set fields = '[{"name":"received","count":6}]' where organization_id = $1 and operation = 'sms.expire' returning position::int`;
    const [row] = await running.database.query<{ position: number }>(changed, [organizationId]);
    const verdict = await verifyOwn();
    expect(verdict.problem?.position).toBe(row!.position);
  });
});

async function verifyOwn() {
  return verifyChain(chainOf(scope(), await scope().of(AuditLog).head()), []);
}

describe("the heads of the audit log", () => {
  const logged = (level: string, isTerminal = false) => {
    const lines: { msg: string; level: number; heads: Record<string, string> }[] = [];
    const logger = pino({ level }, { write: (line) => void lines.push(JSON.parse(line)) });
    return { lines, sealer: new AuditSealer(running.app.database, logger, isTerminal) };
  };

  test("are logged in one line at the default level, in the format of audit:verify", async () => {
    const { lines, sealer } = logged("warn");
    const { organizationId: other } = await running.otherOrganization();
    await until(async () => (await auditWaiting()) === 0);
    await sealer.stop();
    const { position, hash } = await running.app.database.scope(other).of(AuditLog).head();
    expect(lines.map(({ msg }) => msg)).toEqual(["heads of the audit log"]);
    expect(lines[0]!.heads).toMatchObject({ [other]: `${position}:${hash}` });
  });

  test.each([
    ["level error", "error", false],
    ["the default level on a terminal", "warn", true],
  ])("are not logged at %s", async (_, level, isTerminal) => {
    const { lines, sealer } = logged(level, isTerminal);
    await running.otherOrganization();
    await until(async () => (await auditWaiting()) === 0);
    await sealer.stop();
    expect(lines).toEqual([]);
  });

  const auditWaiting = async () => (await running.app.database.auditWaiting()).length;
});

test("an entry of a request has no number of rows", async () => {
  const rows = await auditRows(running.database, organizationId);
  expect(rows.flatMap(({ fields }) => fields).filter((field) => "count" in field)).toEqual([]);
});
