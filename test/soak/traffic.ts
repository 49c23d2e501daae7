import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sign, smsOf } from "../support/twilio";
import type { Client } from "./client";
import { PUBLIC_KEY, PUBLIC_URL, type Installation } from "./installation";

/** Data that the service has acknowledged and must not lose. */
export interface Acknowledged {
  readonly assistants: Map<string, { name: string; description: string }>;
  readonly messages: Map<string, { chatId: string; content: string }>;
  readonly files: Map<string, string>;
  readonly calls: Set<string>;
  /** Texts by sender. */
  readonly texts: Map<string, string[]>;
  /** Questions without an answer in time. */
  readonly unanswered: string[];
}

/** Time that a person waits for an answer, in ms: longer than it takes to detect a dead server. */
const ANSWER_TIMEOUT_MS = 150_000;

const START = "mutation ($id: ID!) { startChat(input: { assistantId: $id, channel: TEXT }) { id } }";
const READ = "query ($id: ID!) { chat(id: $id) { messages(last: 20) { role content } } }";
const END = "mutation ($id: ID!) { endChat(id: $id) { id } }";
const DASHBOARD =
  "{ assistants(take: 10) { data { id name chat { model } logs(take: 3) { id label } } } events(first: 5) { nodes { id name } } }";

interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
}

/** People and programs that use the service, each in its own loop until the traffic ends. */
export class Traffic {
  readonly acknowledged: Acknowledged = {
    assistants: new Map(),
    messages: new Map(),
    files: new Map(),
    calls: new Set(),
    texts: new Map(),
    unanswered: [],
  };
  /** Completed and failed rounds of each kind of user. */
  readonly rounds = new Map<string, { done: number; failed: number }>();
  private readonly stopping = new AbortController();
  private readonly loops: Promise<void>[] = [];
  private assistantId = "";
  private person = 0;

  constructor(
    private readonly installation: Installation,
    private readonly client: Client,
  ) {}

  async start(): Promise<void> {
    const { client, installation } = this;
    const { id } = await client.rest<{ id: string }>("POST", "/rest/v1/assistants", 200, {
      name: "Receptionist",
    });
    this.assistantId = id;
    const destination = { url: installation.receiver.url, secret: "shared" };
    await client.rest("POST", "/rest/v1/settings", 201, destination);
    const connect = "mutation ($input: ConnectTelephonyInput!) { connectTelephony(input: $input) { id } }";
    await client.gql(connect, { input: { ...installation.account, assistantIds: [id] } });
    this.loop("editor", 2, 300, () => this.edit());
    this.loop("person who chats", 4, 500, () => this.chat());
    this.loop("file", 1, 2_000, () => this.file());
    this.loop("call", 1, 5_000, () => this.call());
    this.loop("person who texts", 1, 3_000, () => this.text());
    this.loop("visitor", 1, 2_000, () => this.visit());
    this.loop("dashboard", 2, 200, async () => void (await client.gql(DASHBOARD)));
  }

  /** Waits until all users have finished their rounds. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.loops);
  }

  private loop(name: string, count: number, pauseMs: number, round: () => Promise<void>): void {
    const rounds = { done: 0, failed: 0 };
    this.rounds.set(name, rounds);
    const { signal } = this.stopping;
    const run = async () => {
      while (!signal.aborted) {
        await round().then(
          () => rounds.done++,
          () => rounds.failed++,
        );
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    };
    for (let number = 0; number < count; number++) this.loops.push(run());
  }

  private async edit(): Promise<void> {
    const name = `Assistant ${randomBytes(4).toString("hex")}`;
    const { id } = await this.client.rest<{ id: string }>("POST", "/rest/v1/assistants", 200, { name });
    this.acknowledged.assistants.set(id, { name, description: "" });
    for (const description of ["first", "second"]) {
      await this.client.rest("PATCH", `/rest/v1/assistants/${id}`, 200, { description });
      this.acknowledged.assistants.set(id, { name, description });
    }
    if (Math.random() < 0.5) return;
    this.acknowledged.assistants.delete(id);
    await this.client.insist(() => ({ method: "DELETE", path: `/rest/v1/assistants/${id}` }));
  }

  private async chat(): Promise<void> {
    const { startChat } = await this.client.gql<{ startChat: { id: string } }>(START, {
      id: this.assistantId,
    });
    for (let number = 0; number < 5; number++) {
      const content = question();
      const body = { aiChatId: startChat.id, role: "USER", channel: "TEXT", content, metadata: {} };
      const { id } = await this.client.rest<{ id: string }>("POST", "/rest/v1/ai-chats/messages", 201, body);
      this.acknowledged.messages.set(id, { chatId: startChat.id, content });
      await this.answered(startChat.id, content);
    }
    await this.client.gql(END, { id: startChat.id });
  }

  /** Waits for an answer to the question, or an apology. */
  private async answered(chatId: string, content: string): Promise<void> {
    for (const until = performance.now() + ANSWER_TIMEOUT_MS; performance.now() < until; await sleep(300)) {
      const { chat } = await this.client.gql<{ chat: { messages: ChatMessage[] } }>(READ, { id: chatId });
      const asked = chat.messages.findIndex((message) => message.content === content);
      if (asked >= 0 && chat.messages.slice(asked).some(({ role }) => role === "ASSISTANT")) return;
    }
    this.acknowledged.unanswered.push(`${content} in chat ${chatId} until ${new Date().toISOString()}`);
  }

  private async file(): Promise<void> {
    const content = randomBytes(20_000);
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const answer = await this.client.insist(() => {
      const form = new FormData();
      form.append("file", new Blob([content]), "data.bin");
      return { method: "POST", path: "/rest/v1/files/upload", body: form, headers };
    });
    const { id } = this.client.expect("upload", answer, 201) as { id: string };
    this.acknowledged.files.set(id, createHash("sha256").update(content).digest("hex"));
  }

  private async call(): Promise<void> {
    const body = { assistantId: this.assistantId, phoneNumber: "+41446681800", userId: "caller" };
    const { id } = await this.client.rest<{ id: string }>("POST", "/rest/v1/call/phone", 200, body);
    this.acknowledged.calls.add(id);
  }

  /** Sends a text repeatedly until it is accepted, as Twilio does with its fallback URL. */
  private async text(): Promise<void> {
    const from = `+4178${4_000_000 + this.person++}`;
    const content = question();
    const { account } = this.installation;
    const path = "/webhooks/twilio/intercept-sms";
    const params = smsOf(account, from, content);
    const headers = {
      "Content-Type": "application/x-www-form-urlencoded",
      "X-Twilio-Signature": sign(account.authToken, PUBLIC_URL + path, params),
    };
    const texts: string[] = [];
    this.acknowledged.texts.set(from, texts);
    const body = new URLSearchParams(params).toString();
    const answer = await this.client.as({}).insist(() => ({ method: "POST", path, headers, body }));
    if (answer.status !== 200) throw new Error(answer.text);
    for (const [, text] of answer.text.matchAll(/<Message>([^<]*)<\/Message>/g)) texts.push(text!);
  }

  private async visit(): Promise<void> {
    const page = this.client.as({ "X-API-Key": PUBLIC_KEY });
    const open = "mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { token } }";
    const { startWidgetSession } = await page.gql<{ startWidgetSession: { token: string } }>(open, {
      input: { assistantId: this.assistantId },
    });
    const visitor = this.client.as({ Authorization: `Bearer ${startWidgetSession.token}` });
    const start = "mutation { startWidgetChat(input: {}) { id } }";
    const { startWidgetChat: chat } = await visitor.gql<{ startWidgetChat: { id: string } }>(start);
    const content = question();
    const post = "mutation ($input: WidgetMessageInput!) { postWidgetMessage(input: $input) { id } }";
    const input = { chatId: chat.id, content, clientId: crypto.randomUUID() };
    const { postWidgetMessage: message } = await visitor.gql<{ postWidgetMessage: { id: string } }>(post, {
      input,
    });
    this.acknowledged.messages.set(message.id, { chatId: chat.id, content });
    await this.answered(chat.id, content);
  }
}

/** A unique text. */
const question = (): string => `question ${randomBytes(8).toString("hex")}`;
