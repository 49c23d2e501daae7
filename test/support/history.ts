import type { TestDatabase } from "./database";

/** Pseudorandom numbers from 0 to 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

export interface PastMessage {
  readonly id: string;
  readonly role: "USER" | "ASSISTANT" | "TOOL" | "SYSTEM";
  readonly content: string | null;
  readonly metadata: Record<string, unknown>;
  readonly toolCallId?: string;
  readonly toolCalls?: { id: string; name: string; arguments: object }[];
  readonly createdAt: Date;
}

export interface PastChat {
  readonly id: string;
  readonly assistantId: string;
  readonly channel: "TEXT" | "VOICE" | "SMS";
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly endedReason: string | null;
  readonly messages: readonly PastMessage[];
}

const ANSWERS = [
  "We open at nine.",
  "I'm sorry, I don't know that.",
  "Das weiß ich leider nicht.",
  "Je ne sais pas.",
  "Here <b>you</b> are.",
  "I know a good way. Don't worry.",
];
const REASONS = ["ended-by-api", "idle-timeout", "assistant-ended", null];

/** Random chats, some of them live, as if they had been stored over several days. */
export function randomHistory(
  random: () => number,
  { assistantIds, count, from, days, prefix }: HistoryOptions,
): PastChat[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  return Array.from({ length: count }, (_, number) => {
    const startedAt = new Date(from.getTime() + Math.floor(random() * days * 86_400_000));
    const id = `${prefix}-${String(number).padStart(5, "0")}`;
    const messages = randomMessages(random, id, startedAt);
    const live = random() < 0.2;
    const last = messages.at(-1)?.createdAt ?? startedAt;
    return {
      id,
      assistantId: pick(assistantIds),
      channel: pick(["TEXT", "VOICE", "SMS"] as const),
      startedAt,
      endedAt: live ? null : new Date(last.getTime() + Math.floor(random() * 600_000)),
      endedReason: live ? null : pick(REASONS),
      messages,
    };
  });
}

export interface HistoryOptions {
  readonly assistantIds: readonly string[];
  readonly count: number;
  readonly from: Date;
  readonly days: number;
  /** Prefix of the ids, hexadecimal as in real ids. */
  readonly prefix: string;
}

function randomMessages(random: () => number, chat: string, startedAt: Date): PastMessage[] {
  const messages: PastMessage[] = [];
  let at = startedAt.getTime();
  const add = (message: Omit<PastMessage, "id" | "createdAt" | "metadata"> & { metadata?: object }) => {
    at += Math.floor(random() ** 4 * 600_000); // some pauses are longer than 5 minutes
    const id = `${chat}-${messages.length + 1}`;
    messages.push({ id, createdAt: new Date(at), metadata: {}, ...message } as PastMessage);
  };
  for (let turn = Math.floor(random() * 6); turn > 0; turn--) {
    if (random() < 0.2) add({ role: "ASSISTANT", content: "Hello!" });
    const content = random() < 0.1 ? "" : `Question ${turn} <img src=x onerror=alert(1)>?`;
    add({ role: "USER", content });
    if (random() < 0.3) callFunction(random, chat, add, messages.length);
    if (random() < 0.1) add({ role: "SYSTEM", content: "A note." });
    if (random() < 0.15) continue;
    const apology = random() < 0.1;
    const answer = apology ? "I'm sorry." : ANSWERS[Math.floor(random() * ANSWERS.length)]!;
    add({ role: "ASSISTANT", content: answer, metadata: apology ? { error: true } : {} });
  }
  return messages;
}

type Add = (message: Omit<PastMessage, "id" | "createdAt" | "metadata"> & { metadata?: object }) => void;

function callFunction(random: () => number, chat: string, add: Add, number: number): void {
  const calls = ["book", "cancel"].slice(0, 1 + Math.floor(random() * 2));
  const ids = calls.map((name) => `${chat}-${number}-${name}`);
  const toolCalls = calls.map((name, index) => ({ id: ids[index]!, name, arguments: {} }));
  add({ role: "ASSISTANT", content: random() < 0.5 ? null : "One moment.", toolCalls });
  for (const toolCallId of ids) {
    const fate = random();
    if (fate < 0.1) continue; // nobody ever answered
    const metadata =
      fate < 0.3 ? { failed: true } : fate < 0.4 ? { transition: true } : fate < 0.5 ? { skipped: true } : {};
    add({ role: "TOOL", content: "done", toolCallId, metadata });
  }
}

/** Stores chats as conversations of an organization. */
export async function store(
  { query }: Pick<TestDatabase, "query">,
  organizationId: string,
  chats: readonly PastChat[],
): Promise<void> {
  await query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, message_count, started_at, ended_at, ended_reason)
     select $1, c->>'id', c->>'assistantId', c->>'channel', case when c->>'endedAt' is null then 'in-progress' else 'ended' end, 'none',
       'Caller ' || (c->>'id'), json_array_length(c->'messages'), (c->>'startedAt')::timestamptz, (c->>'endedAt')::timestamptz, c->>'endedReason'
     from json_array_elements($2::json) c`,
    [organizationId, JSON.stringify(chats)],
  );
  await query(
    `insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content, metadata, tool_call_id, tool_calls, created_at)
     select $1, m->>'id', c->>'id', c->>'assistantId', place, m->>'role', c->>'channel', m->>'content', (m->'metadata')::jsonb,
       m->>'toolCallId', m->'toolCalls', (m->>'createdAt')::timestamptz
     from json_array_elements($2::json) c, json_array_elements(c->'messages') with ordinality messages (m, place)`,
    [organizationId, JSON.stringify(chats)],
  );
}
