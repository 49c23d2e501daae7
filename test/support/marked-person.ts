import { sumFacts } from "../../src/chats/analytics/keep-facts";
import { buffer } from "node:stream/consumers";
import type { Database } from "../../src/platform/database/database";
import { newId } from "../../src/platform/database/values/ids";
import { ended, speaker } from "./calls";
import type { EngineApp } from "./engine";
import { newChat, newAssistant, endChat } from "./factories";
import { exportPerson } from "./exports";
import { storageOf, upload } from "./files";
import { Receiver } from "./receiver";
import { until } from "./until";
import { answeredBy, bring, connect } from "./sms";
import { stubModel } from "./stub-model";
import { smsOf } from "./twilio";
import { VisitorClient } from "./visitor";

/** Part of everything that the person says, and of all names and ids of the person. */
export const MARK = "zqmarkzq";
/** The person's number. */
export const PHONE = "+41783999123";
/** Ids of the person. Ids from pages are shorter than 30 characters. */
export const IDS = {
  uniqueId: `unique-${MARK}`,
  userId: `user-${MARK}`,
  anonymousId: `anonymous-${MARK}`,
  phoneNumber: PHONE,
} as const;

const WORDS = `My name is ${MARK}.`;
/** The service's address for the provider. */
const PUBLIC_URL = "https://parley.example";
const POST = "mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { content } }";
const ATTACH =
  "mutation ($assistantId: ID!, $fileId: ID!) { attachFile(assistantId: $assistantId, fileId: $fileId) { id } }";

/** Lets a person use every feature, with the mark in all texts, names and ids. @returns ids of the conversations */
export async function meetMarkedPerson(app: EngineApp): Promise<string[]> {
  const server = await new Receiver((res) => void res.end(JSON.stringify(`booked for ${MARK}`))).start();
  const model = await stubModel(
    { call: "book", arguments: JSON.stringify({ name: MARK }) },
    { call: "remember_fact", arguments: JSON.stringify({ fact: `Is called ${MARK}.` }) },
    { text: [`Hello ${MARK}`] },
  );
  await answeredBy(app, model);
  try {
    return await meet(app, server.url);
  } finally {
    await model.stop();
    await server.stop();
  }
}

async function meet(app: EngineApp, serverUrl: string): Promise<string[]> {
  await app.api.post("/rest/v1/settings", { url: serverUrl, secret: "shared" }, 201);
  const parameters = { type: "object", properties: { name: { type: "string" } } };
  const functions = [{ name: "book", description: "Books.", parameters, serverUrl }];
  const assistantId = await speaker(app.api, { initialMessage: "", functions });
  await app.api.patch(`/rest/v1/assistants/${assistantId}/chat`, { functions }, 200);
  const { token } = await app.api.post("/rest/v1/organization/token", { userId: IDS.userId }, 200);
  const own = app.api.as({ Authorization: `Bearer ${token}` });
  await own.patch(`/rest/v1/assistants/${assistantId}`, { description: "A better one" }, 200);
  await own.post("/rest/v1/assistants", { name: "Of the person" }, 200);
  const texted = await newAssistant(app.api);
  const ids = [await chat(app, assistantId), await visit(app, assistantId), await call(app, assistantId)];
  const number = await connect(app, [texted]);
  for (const words of [WORDS, "STOP"])
    await bring(app, number, smsOf(number, PHONE, words), { at: PUBLIC_URL });
  const { id: fileId } = await upload(app.api, { content: WORDS, metadata: { uniqueId: IDS.uniqueId } });
  await app.api.gql(ATTACH, { assistantId, fileId });
  const passages = "select from passages where content like $1";
  await until(async () => (await app.database.query(passages, [`%${MARK}%`])).length > 0);
  await notice(app, number.id);
  // Statistics of some conversations are added up, of others not yet.
  await app.app.database.keepFacts(500);
  await sumFacts(app.app.database);
  ids.push(await call(app, assistantId));
  await app.app.database.keepFacts(500);
  for (const [kind, value] of Object.entries(IDS)) await exportPerson(app, { [kind]: value });
  return [...ids, ...(await chatsByPhone(app))];
}

async function chat({ api }: EngineApp, assistantId: string): Promise<string> {
  const { uniqueId, userId } = IDS;
  const aiChatId = await newChat(api, assistantId, {
    uniqueId,
    userId,
    variables: { name: MARK },
    metadata: { name: MARK },
  });
  const message = { aiChatId, role: "USER", channel: "TEXT", content: WORDS, metadata: { name: MARK } };
  await api.gql(POST, { input: message });
  const kept = { ...message, role: "ASSISTANT" };
  await api.post("/rest/v1/ai-chats/messages", kept, 201, { "Idempotency-Key": `key-of-${MARK}` });
  await api.post("/rest/v1/ai-chats/messages", kept, 201, { "Idempotency-Key": "another-key" });
  await endChat(api, aiChatId, `because of ${MARK}`);
  return newChat(api, assistantId, { uniqueId });
}

async function visit({ url, publicKey }: EngineApp, assistantId: string): Promise<string> {
  const visitor = await VisitorClient.of(url, publicKey, { assistantId, uniqueId: IDS.uniqueId });
  const { id } = await visitor.start({ variables: { name: MARK }, metadata: { name: MARK } });
  await visitor.post(id, WORDS, `client-${MARK}`);
  return id;
}

async function call(app: EngineApp, assistantId: string): Promise<string> {
  const { userId, anonymousId } = IDS;
  const about = { userName: MARK, externalId: MARK, metadata: { name: MARK }, variables: { name: MARK } };
  const engine = await app.call(assistantId, { userId, anonymousId, ...about }, PHONE);
  await engine.tell("status-update", { status: "in-progress" });
  await engine.tell("transcript", { role: "user", transcriptType: "final", transcript: WORDS });
  const asked = { id: "t1", type: "function", function: { name: "book", arguments: { name: MARK } } };
  await engine.tell("tool-calls", { toolCallList: [asked] });
  await engine.tell("hang");
  const recordingUrl = `https://recordings.example/${MARK}.wav`;
  await engine.tell("end-of-call-report", { endedReason: MARK, artifact: { recordingUrl, messages: [] } });
  await ended(app.api, engine.id);
  return engine.id;
}

/** Enqueues a text to the person. */
async function notice({ app, api }: EngineApp, connectionId: string): Promise<void> {
  const { id } = await api.get("/rest/v1/organization", 200);
  const job = { connectionId, to: PHONE, text: `Dear ${MARK}` };
  const runAt = new Date(Date.now() + 86_400_000);
  const scope = app.database.scope(id as string);
  await scope.enqueue("sms.tell", job, { runAt });
  const sms = { id: newId(), via: "API" as const, connectionId, phoneNumber: PHONE, body: job.text };
  await scope.insert("sms_sent", sms);
}

async function chatsByPhone({ database }: EngineApp): Promise<string[]> {
  const rows = await database.query<{ id: string }>("select id from chats where phone_number = $1", [PHONE]);
  return rows.map(({ id }) => id);
}

type Opener = (row: Record<string, string>) => string;
/** Functions that decrypt sealed columns that may contain a person's words. */
const CONTEXTS: Readonly<Record<string, Opener>> = {
  "idempotency_keys.sealed_body": ({ organization_id, key }) => `${organization_id}/idempotency_keys/${key}`,
  "end_user_exports.sealed_target": ({ organization_id, id }) => `${organization_id}/end_user_exports/${id}`,
  "provider_erasures.sealed_target": ({ organization_id, id }) =>
    `${organization_id}/provider_erasures/${id}`,
  "erasures.sealed_target": ({ organization_id, id }) => `${organization_id}/erasures/${id}`,
};

/** Number of rows that contain a mark, by table of the service or its job queue. */
export async function tablesWith(app: EngineApp, marks: readonly string[]): Promise<Record<string, number>> {
  const tables = await app.database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const rows = await app.database.query<{ row: Record<string, string> }>(
      `select to_jsonb(t) as row from ${name} t`,
    );
    const opened = rows.map(({ row }) =>
      JSON.stringify(unsealed(app.app.database, name.split(".")[1]!, row)),
    );
    const count = opened.filter((row) => marks.some((mark) => row.includes(mark))).length;
    if (count > 0) found[name.replace("public.", "")] = count;
  }
  return found;
}

function unsealed(database: Database, table: string, row: Record<string, string>): Record<string, string> {
  const { crypto } = database.scope("").ports;
  const entries = Object.entries(row).map(([column, value]) => {
    const context = CONTEXTS[`${table}.${column}`];
    return [column, context && value ? crypto.open(value, context(row)) : value] as const;
  });
  return Object.fromEntries(entries);
}

/** Keys of stored files whose key or content contains a mark. */
export async function filesWith(running: EngineApp, marks: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const storage = storageOf(running);
  for await (const { key } of storage.list()) {
    const content = await buffer(await storage.get(key));
    if (marks.some((mark) => key.includes(mark) || content.includes(mark))) found.push(key);
  }
  return found;
}
