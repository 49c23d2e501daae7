import { beforeAll, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { expectBoundedReads, unchecked } from "../support/plans";

const running = useApp();

/** Entries of the audit log, each about a person. */
const ENTRIES = 60_000;
/** Pages of 8 kB that a statement may read. All entries take 2,400. */
const MOST_BUFFERS = 150;
const PERSON = "ada@example.com";

beforeAll(async () => {
  const { api, database } = running;
  const assistantId = await newAssistant(api);
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  await api.gql(start, { input: { assistantId, uniqueId: PERSON } });
  await api.gql("{ auditHead { position } }"); // gives the entries so far their positions
  await database.query(
    unchecked(`insert into audit_events (organization_id, position, id, kind, actor, key_id, address, interface, operation, record_type,
       record_id, fields, created_at, previous_hash, hash)
     select organization_id, position + n, 'entry-' || n, 'CHANGE', 'SECRET', 'key', '203.0.113.1', 'GRAPHQL', 'startChat', 'Chat',
       'chat-' || n, jsonb_build_array(jsonb_build_object('name', 'uniqueId', 'digest', 'of ' || n / 2)),
       now() - (${ENTRIES} - n) * interval '1 minute', 'none', 'none' from audit_heads, generate_series(1, ${ENTRIES}) n;
     update audit_heads set position = position + ${ENTRIES}`),
  );
  await database.query("vacuum analyze audit_events");
}, 120_000);

test.each([
  [PERSON, 1],
  ["nobody", 0],
])("of 60,000 entries about people, a bounded part is read for those about %s", async (person, entries) => {
  const LIST =
    "query ($filter: AuditEventFilter) { auditEvents(filter: $filter) { nodes { operation } totalCount } }";
  const list = async () => (await running.api.gql(LIST, { filter: { person } })).auditEvents;
  await expectBoundedReads(running, /\baudit_events\b|parley_audited_about/, list, MOST_BUFFERS);
  const { nodes, totalCount } = await list();
  expect(nodes).toHaveLength(entries);
  expect(totalCount).toBe(entries);
});
