import type { Client } from "pg";

const ASSISTANTS = 200;
const LOGS_EACH = 20;
const PROMPT = "You are {name}, who takes the calls of a dental practice. Be brief and kind. ".repeat(12);
const FUNCTIONS = ["bookAppointment", "cancelAppointment"].map((name) => ({
  name,
  description: "Does what the caller asks for in the practice's calendar.",
  parameters: { type: "object", properties: { day: { type: "string" }, hour: { type: "number" } } },
  serverUrl: "https://calendar.example.com/functions",
}));

/** Fills the default organization: through the service, and past conversations directly in the database. */
export async function fill(url: string, secretKey: string, db: Client): Promise<string[]> {
  const headers = { "X-API-Key": secretKey, "Content-Type": "application/json" };
  const send = async (method: string, path: string, body: unknown) => {
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const ids: string[] = [];
  for (let number = 1; number <= ASSISTANTS; number++) {
    const { id } = await send("POST", "/rest/v1/assistants", {
      name: `Receptionist ${number}`,
      description: "Answers the telephone of a dental practice and knows its calendar.",
      variables: { name: "Ada", practice: "Smith & Daughters", opens: 8, languages: ["en", "de"] },
    });
    for (const channel of ["voice", "sms", "chat"])
      await send("PATCH", `/rest/v1/assistants/${id}/${channel}`, { prompt: PROMPT, functions: FUNCTIONS });
    await send("PATCH", `/rest/v1/assistants/${id}/theme`, {
      theme: { primaryColor: "#336699", title: "Ask us" },
    });
    ids.push(id);
  }
  await db.query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, message_count,
       started_at, ended_at)
     select a.organization_id, a.id || '-' || lpad(n::text, 4, '0'), a.id, 'TEXT', 'ended', 'none', 'Caller ' || n, 4,
       now() - interval '2 hours', now() - interval '1 hour'
     from assistants a, generate_series(1, $1::int) n where a.id = any($2::text[])`,
    [LOGS_EACH, ids],
  );
  await db.query("vacuum analyze");
  return ids;
}
