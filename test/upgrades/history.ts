import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../support/api";
import { buildFlow } from "../support/flows";
import { accountOf, sign, smsOf } from "../support/twilio";
import { until } from "../support/until";
import type { Told } from "./dump";

/** Address of the installation for providers. */
export const PUBLIC_URL = "http://parley.example";

/** Time that a version may take for an answer or for what follows from the last request. */
const PATIENCE_MS = 3_000;
const SETTLE_MS = 1_000;

/** Traces of the use of a version, for the checks of an upgrade. */
export interface Used {
  readonly told: readonly Told[];
  readonly keys: readonly string[];
  /** Parts that the version does not have, with its refusal. */
  readonly missing: readonly string[];
}

const CHAT = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
const END = "mutation ($id: ID!) { endChat(id: $id) { id } }";

/**
 * Uses a version as people and programs do. What the version does not have yet is left out.
 * @param receiver URL of a server that refuses webhooks, so that deliveries stay pending
 */
export async function use(api: Api, receiver: string): Promise<Used> {
  const missing: string[] = [];
  const keys: string[] = [];
  const part = async (name: string, work: () => Promise<unknown>) => {
    await work().catch((error: unknown) => missing.push(`${name}: ${String(error).slice(0, 200)}`));
  };
  await part("webhooks", () =>
    api.post("/rest/v1/settings", { url: receiver, secret: "shared", name: "all" }, 201),
  );
  const assistant = { name: "Ada", description: "at the desk", variables: { city: "Bern" } };
  const { id: assistantId } = await api.post("/rest/v1/assistants", assistant, 200);
  for (const channel of ["voice", "sms", "chat"])
    await part(channel, () =>
      api.patch(
        `/rest/v1/assistants/${assistantId}/${channel}`,
        { prompt: `For ${channel}: be brief.` },
        200,
      ),
    );
  await part("theme", () =>
    api.patch(`/rest/v1/assistants/${assistantId}/theme`, { mode: "CHAT_ONLY" }, 200),
  );
  await part("copies", () => api.post(`/rest/v1/assistants/duplicate/${assistantId}`, undefined, 200));
  for (const body of [{ type: "SECRET" }, { type: "PUBLIC" }, { type: "PUBLIC", status: "INACTIVE" }])
    await part("keys", async () => {
      const made = await api.post("/rest/v1/organization/keys", body, 200);
      if (!("status" in body)) keys.push((made.value ?? made.key) as string);
    });
  await part("limited keys", () =>
    api.gql(`mutation { createKey(input: { type: SECRET, permissions: [read] }) { id } }`),
  );
  await part("files", async () => {
    const form = new FormData();
    form.set("file", new File(["An apple costs 2 francs."], "prices.txt", { type: "text/plain" }));
    form.set("metadata", JSON.stringify({ year: 2026 }));
    const answer = await api.request("POST", "/rest/v1/files/upload", form);
    if (answer.status !== 201) throw new Error(answer.text);
    await part("attached files", () =>
      api.gql("mutation ($a: ID!, $f: ID!) { attachFile(assistantId: $a, fileId: $f) { id } }", {
        a: assistantId,
        f: answer.body.id,
      }),
    );
  });
  await part("chats", () => chats(api, assistantId));
  await part("end users", () => chats(api, assistantId, { uniqueId: "bea-7", userId: "Bea" }));
  await part("calls", () =>
    api.post("/rest/v1/call/phone", { assistantId, phoneNumber: "+41445550100", userId: "bea" }, 200),
  );
  await part("projects", () => api.gql(`mutation { createProject(input: { name: "Desk" }) { id } }`));
  await part("workflows", async () => {
    const { workflowId } = await buildFlow(api, { assistantId });
    const input = { type: "API", workflowId };
    const deploy = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
    await api.gql(deploy, { input });
  });
  await part("texts", () => texts(api, assistantId));
  await part("models", () =>
    api.gql("mutation ($input: ModelMappingInput!) { setModelMapping(input: $input) { model } }", {
      input: { model: "MIXTRAL", name: "mine", provider: "OPENAI" },
    }),
  );
  await part("retention", () =>
    api.gql(`mutation { updateRetention(input: { logsDays: 3000 }) { logsDays } }`),
  );
  await part("erasures", () => api.gql(`mutation { forgetEndUser(uniqueId: "nobody") { __typename } }`));
  await part("exports", () => api.gql(`mutation { exportEndUser(uniqueId: "bea-7") { id } }`));
  await sleep(SETTLE_MS);
  return { told: await tell(api), keys, missing };
}

/** One chat that has ended and one that is live, each with a question and its answer. */
async function chats(api: Api, assistantId: string, person: object = {}): Promise<void> {
  for (const ends of [true, false]) {
    const { startChat } = await api.gql(CHAT, { input: { assistantId, metadata: { order: 7 }, ...person } });
    const message = { aiChatId: startChat.id, channel: "TEXT", metadata: { source: "page" } };
    for (const content of ["Are you open?", "What does an apple cost?"])
      await api.post("/rest/v1/ai-chats/messages", { ...message, role: "USER", content }, 201);
    const log = `/rest/v1/assistants/${assistantId}/log/${startChat.id}`;
    const answered = async () => (await api.get(log, 200)).messages.items.at(-1).role === "ASSISTANT";
    await until(answered, PATIENCE_MS).catch(() => undefined); // a live chat may have no log yet
    if (ends) await api.gql(END, { id: startChat.id });
  }
}

/** A text to the number of the assistant, which answers it. */
async function texts(api: Api, assistantId: string): Promise<void> {
  const account = accountOf("upgrades");
  const connect = "mutation ($input: ConnectTelephonyInput!) { connectTelephony(input: $input) { id } }";
  await api.gql(connect, { input: { ...account, assistantIds: [assistantId] } });
  const path = "/webhooks/twilio/intercept-sms";
  const params = smsOf(account, "+41790000007", "Are you open?");
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded",
    "X-Twilio-Signature": sign(account.authToken, PUBLIC_URL + path, params),
  };
  const answer = await api.as({}).request("POST", path, new URLSearchParams(params).toString(), headers);
  if (answer.status !== 200) throw new Error(answer.text);
}

/** Everything that REST tells of the organization. */
async function tell(api: Api): Promise<Told[]> {
  const told: Told[] = [];
  const ask = async (path: string, status = 200) => {
    const answer = await api.request("GET", path);
    if (answer.status === status) told.push({ path, body: answer.body });
    return answer.body;
  };
  for (const name of ["organization", "organization/keys", "files?take=50"]) await ask(`/rest/v1/${name}`);
  await ask("/rest/v1/settings", 201);
  const { data } = await ask("/rest/v1/assistants?take=50&order=asc");
  for (const { id } of data) {
    for (const kind of ["voice", "sms", "chat", "theme"]) await ask(`/rest/v1/assistants/${id}/${kind}`);
    const logs = await ask(`/rest/v1/assistants/${id}/logs?take=50`);
    for (const log of logs ?? []) await ask(`/rest/v1/assistants/${id}/log/${log.id}`);
  }
  return told;
}
