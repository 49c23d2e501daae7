import { beforeAll, describe, expect, test } from "@jest/globals";
import { callOf, eventsOf, said, speaker } from "../support/calls";
import { useEngine, type EngineCall } from "../support/engine";
import { until } from "../support/until";
import { rows } from "../support/suite";

const running = useEngine({ CALL_SILENCE_SECONDS: "3600", RATE_LIMIT_ANONYMOUS: "1" });
let assistantId: string;
beforeAll(async () => {
  assistantId = await speaker(running.api, { initialMessage: "" });
});

async function newCall(more: object = {}): Promise<EngineCall> {
  // A line dials one call per second; these do not wait for one another.
  await running.database.query("update calls set line = null");
  return running.call(assistantId, more);
}

type Report = readonly [type: string, more: object];
const TURNS = [
  { role: "user", message: "Hello?" },
  { role: "bot", message: "Good morning. How can I help?" },
  { role: "user", message: "When do you open?" },
  { role: "bot", message: "At nine." },
];
const heard = (role: string, transcript: string, timestamp: number): Report => [
  "transcript",
  { role, transcriptType: "final", transcript, timestamp },
];
const ENDED: Report = ["status-update", { status: "ended" }];
const REPORT: Report = [
  "end-of-call-report",
  {
    endedReason: "customer-ended-call",
    artifact: { recordingUrl: "https://recordings.example/1.wav", messages: TURNS },
  },
];
const UPDATE: Report = ["conversation-update", { messages: TURNS.slice(0, 2) }];
const WHOLE = [
  "USER: Hello?",
  "ASSISTANT: Good morning.",
  "ASSISTANT: How can I help?",
  "USER: When do you open?",
  "ASSISTANT: At nine.",
];

const orders = <T>(list: readonly T[]): T[][] =>
  list.length === 0
    ? [[]]
    : list.flatMap((one, index) => orders(list.toSpliced(index, 1)).map((rest) => [one, ...rest]));

/** The messages of a call in every place where they can be read. */
async function everywhere(call: EngineCall) {
  const { api, database } = running;
  const whole = said(await callOf(api, call.id));
  const log = await api.get(`/rest/v1/assistants/${assistantId}/log/${call.id}`, 200);
  const events = (await eventsOf(api, call.id)).filter(({ name }) => name === "conversation-updated");
  const facts = "select messages, ended_reason from conversation_facts where chat_id = $1";
  const [counted] = await database.query<{ messages: number; ended_reason: string }>(facts, [call.id]);
  const sequences = "select sequence from messages where chat_id = $1 order by sequence";
  const numbers = (await database.query<{ sequence: number }>(sequences, [call.id])).map(
    (row) => row.sequence,
  );
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  expect(
    log.messages.items.map(({ role, content }: Record<string, string>) => `${role}: ${content}`),
  ).toEqual(whole);
  expect(log.metadata.messageCount).toBe(whole.length);
  expect(counted).toEqual({ messages: whole.length, ended_reason: log.metadata.endedReason });
  const told = events.at(-1)!.payload.data.messages as { role: string; content: string }[];
  expect(told.map(({ role, content }) => `${role === "bot" ? "ASSISTANT" : "USER"}: ${content}`)).toEqual(
    whole,
  );
  return { whole, endedReason: log.metadata.endedReason, recordingUrl: log.recordingUrl };
}

describe("the transcript of a call is complete at the end", () => {
  const SETS: Readonly<Record<string, readonly Report[]>> = {
    "one transcript of several": [heard("user", "When do you open?", 3_000), ENDED, REPORT],
    "transcripts in pieces": [
      heard("assistant", "How can I help?", 2_000),
      heard("user", "Hello?", 1_000),
      ENDED,
      REPORT,
    ],
    "a conversation as far as it went": [UPDATE, heard("assistant", "Good morning.", 2_000), ENDED, REPORT],
  };
  test.each(Object.entries(SETS))(
    "%s, the end and the report, in every order or a sample, each sent twice",
    async (_, reports) => {
      const results = new Set<string>();
      for (const order of rows(orders(reports), 4).rows) {
        const call = await newCall();
        // Repeated at once, and once more after all the others.
        for (const [type, more] of [...order.flatMap((report) => [report, report]), ...order])
          expect((await call.tell(type, more)).status).toBe(201);
        const { whole, ...rest } = await everywhere(call);
        expect(rest).toEqual({
          endedReason: "customer-ended-call",
          recordingUrl: "https://recordings.example/1.wav",
        });
        expect(whole.join(" ").replaceAll(/(USER|ASSISTANT): /g, "")).toBe(
          TURNS.map(({ message }) => message).join(" "),
        );
        results.add(JSON.stringify(whole));
      }
      expect(results.size).toBe(1);
    },
    240_000,
  );

  test("all transcripts, without a report, in every order or a sample", async () => {
    const transcripts = WHOLE.slice(0, 3).map((line, index) => {
      const [role, text] = line.split(": ");
      return heard(role!.toLowerCase(), text!, 1_000 * index);
    });
    for (const order of rows(orders([...transcripts, ENDED]), 4).rows) {
      const call = await newCall();
      for (const [type, more] of [...order, ...order]) await call.tell(type, more);
      expect((await everywhere(call)).whole).toEqual(WHOLE.slice(0, 3));
    }
  }, 240_000);

  test("facts stored before the report agree with it", async () => {
    const { database } = running;
    const call = await newCall({ userId: "someone" });
    await database.query("update chats set identity_proven = true where id = $1", [call.id]);
    await call.tell(...heard("user", "When do you open?", 3_000));
    await call.tell(...ENDED);
    await database.query("select graphile_worker.add_job('facts.keep')");
    const counted = "select from chats where id = $1 and counted";
    await until(async () => (await database.query(counted, [call.id])).length > 0);
    await call.tell(...REPORT);
    expect((await everywhere(call)).whole).toHaveLength(4);
    const remembered = "select signed_context from end_users where unique_id = 'someone'";
    const [{ signed_context: context }] = (await database.query(remembered)) as [{ signed_context: string }];
    expect(context).toContain("At nine.");
  });

  test("a report that comes after the person's next call leaves the end of that call as what is remembered", async () => {
    const { database } = running;
    const [first, second] = [await newCall({ userId: "caller" }), await newCall({ userId: "caller" })];
    await first.tell(...heard("user", "When do you open?", 3_000));
    await first.tell(...ENDED);
    await second.tell(...heard("user", "And when do you close?", 3_000));
    await second.tell(...ENDED);
    await first.tell(...REPORT);
    expect((await everywhere(first)).whole).toHaveLength(4);
    const remembered =
      "select signed_context, signed_context_chat_id from end_users where unique_id = 'caller'";
    expect(await database.query(remembered)).toEqual([
      { signed_context: "Person: And when do you close?", signed_context_chat_id: second.id },
    ]);
  });

  test("a client's own messages and function calls keep their positions", async () => {
    const { api, database } = running;
    const call = await newCall();
    await call.tell(...heard("user", "Hello?", Date.now()));
    const note = { aiChatId: call.id, role: "SYSTEM", channel: "VOICE", content: "A note", metadata: {} };
    await api.post("/rest/v1/ai-chats/messages", note, 201);
    await call.tell(...ENDED);
    await call.tell(...REPORT);
    const text = "select role, content from messages where chat_id = $1 order by sequence limit 3";
    expect(await database.query(text, [call.id])).toEqual([
      { role: "USER", content: "Hello?" },
      { role: "SYSTEM", content: "A note" },
      { role: "ASSISTANT", content: "Good morning. How can I help?" },
    ]);
  });
});
