import { Client } from "pg";
import { HEADERS, percentile, type Bench } from "./bench";

const CHATS = 100_000;
const MESSAGES_EACH = 10;
const ASKED = 200;
/** Words by frequency in the messages; the rare one occurs a dozen times in a million messages. */
const WORDS = { rare: "zugzwang", common: "parcel", absent: "xylograph" };

/** Measures searches for words in a million messages of one assistant. */
export async function search({ ours, databaseUrl, table, ids }: Bench): Promise<void> {
  const assistantId = ids[0]!;
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  await fill(db, assistantId);
  await db.end();
  for (const [kind, word] of Object.entries(WORDS)) {
    const url = `${ours.url}/rest/v1/assistants/${assistantId}/logs?search=${word}`;
    const times: number[] = [];
    for (let count = 0; count < ASKED; count++) {
      const began = performance.now();
      const answer = await fetch(url, { headers: HEADERS });
      const found = (await answer.json()) as unknown[];
      times.push(performance.now() - began);
      const expected =
        kind === "common" ? found.length === 20 : kind === "absent" ? found.length === 0 : found.length > 5;
      if (!answer.ok || !expected) throw new Error(`${kind}: ${answer.status}, ${found.length} found`);
    }
    const p99 = percentile(times.slice(ASKED / 10), 0.99); // the first requests read cold pages
    table.add({ what: `search, ${kind} word, 99th percentile`, ours: p99, unit: "ms", most: 50 });
  }
}

async function fill(db: Client, assistantId: string): Promise<void> {
  const vocabulary = `array['the','delivery','of','your','order','is','late','and','we','are','sorry','please','call','again','tomorrow',
    'morning','invoice','number','street','address','refund','account','password','help','thank','you','parcel','driver','window','name']`;
  await db.query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, message_count, started_at, ended_at)
     select a.organization_id, 'search-' || lpad(n::text, 7, '0'), a.id, 'TEXT', 'ended', 'none', 'Caller ' || n, $2, now(), now()
     from assistants a, generate_series(1, $3::int) n where a.id = $1`,
    [assistantId, MESSAGES_EACH, CHATS],
  );
  await db.query(
    `insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select c.organization_id, c.id || '-' || m, c.id, c.assistant_id, m, case when m % 2 = 0 then 'ASSISTANT' else 'USER' end, 'TEXT',
       (select string_agg((${vocabulary})[1 + (hashint8(hashtext(c.id)::bigint * 31 + m * 7 + w) & 2147483647) % 30], ' ')
        from generate_series(1, 12) w)
       || case when m = 3 and substr(c.id, 8)::int % 8000 = 17 then ' zugzwang' else '' end
     from chats c, generate_series(1, $2::int) m where c.assistant_id = $1 and c.id like 'search-%'`,
    [assistantId, MESSAGES_EACH],
  );
  await db.query("vacuum analyze chats, messages");
}
