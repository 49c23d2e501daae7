import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { useApp } from "../support/app";
import { quietAssistant } from "../support/factories";
import { upload } from "../support/files";
import { Receiver } from "../support/receiver";
import { LONG as LONG_SUITE } from "../support/suite";
import { stubModel, type ModelAsked, type Reply } from "../support/stub-model";

const running = useApp({ WORKER: "on" });

type Json = Record<string, unknown>;
type Secrets = ReadonlyMap<string, string>;
interface Change {
  readonly kind: "ADD" | "REMOVE" | "REPLACE";
  readonly path: string;
  readonly after: unknown;
}
interface Item extends Json {
  readonly name: string;
  readonly serverUrl: string;
  readonly secretKey?: unknown;
}
interface Document extends Json {
  readonly chat: Json & { readonly functions: readonly Item[] };
  readonly fileIds: readonly string[];
}

const KINDS = ["voice", "sms", "chat"] as const;
const STORED = { stored: true };
const [OK, SERVER_COUNT] = [{ text: ["Fine."] } as const, 2];

let files: readonly string[];
let model: Awaited<ReturnType<typeof stubModel>>;
const servers: Receiver[] = [];
beforeAll(async () => {
  files = await Promise.all(
    ["Open.", "Closed."].map(async (content) => (await upload(running.api, { content })).id),
  );
  for (let index = 0; index < SERVER_COUNT; index++)
    servers.push(await new Receiver((res) => void res.end('"done"')).start());
  model = await stubModel(replyTo);
  const set = "mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }";
  await running.api.gql(set, { input: { provider: "OPENAI", apiKey: "sk-stub", baseUrl: model.url } });
});
afterAll(() => Promise.all([model.stop(), ...servers.map((one) => one.stop())]));

/** The model calls the first function that it is offered in each turn. */
function replyTo({ messages, tools }: ModelAsked): Reply {
  const name = messages.at(-1)!.role === "tool" ? undefined : tools?.[0]?.function.name;
  return name === undefined ? OK : { call: name, arguments: "{}" };
}

/** Texts of JSON that JavaScript would change, by the text that stands for each in this file. */
const EXACT = [
  ['"@1"', "12345678901234567890"],
  ['"@2"', "12345678901234567891"],
  ['"@10":', '"10":'],
  ['"@9":', '"9":'],
] as const;
const written = (value: unknown) =>
  EXACT.reduce((text, [here, there]) => text.replaceAll(here, there), JSON.stringify(value));
const read = (text: string): Json =>
  JSON.parse(EXACT.reduce((all, [here, there]) => all.replaceAll(there, here), text)) as Json;

async function rest(method: string, path: string, body?: object): Promise<Json> {
  const type = { "Content-Type": "application/json" };
  const { status, text } = await running.api.request(method, `/rest/v1/${path}`, body && written(body), type);
  expect([status < 300, text]).toEqual([true, text]);
  return read(text);
}
/** The result of the only field of an operation, or the code of its error. */
async function gql<T = Json>(query: string, variables: object): Promise<T> {
  const type = { "Content-Type": "application/json" };
  const { text } = await running.api.request("POST", "/graphql", written({ query, variables }), type);
  const { data, errors } = read(text) as { data: Json; errors?: { extensions: { code: string } }[] };
  return (errors ? errors[0]!.extensions.code : Object.values(data)[0]) as T;
}

const PARTS = "voice sms chat theme".split(" ");
const update = (part: string) => {
  const type = `${part[0]!.toUpperCase()}${part.slice(1)}`;
  return `mutation ($id: ID!, $input: Update${type}ConfigurationInput!) {
    update${type}Configuration(assistantId: $id, input: $input) { id } }`;
};
const UPDATE =
  "mutation ($id: ID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { id } }";
const RAG = `mutation ($id: ID!, $channel: Channel!, $input: UpdateRagSettingsInput!) {
  updateRagSettings(assistantId: $id, channel: $channel, input: $input) { id } }`;
const ORIGINS =
  "mutation ($id: ID!, $origins: [String!]!) { updateAllowedOrigins(assistantId: $id, origins: $origins) { id } }";
const ATTACH = "mutation ($id: ID!, $fileId: ID!) { attachFile(assistantId: $id, fileId: $fileId) { id } }";
const DETACH = "mutation ($id: ID!, $fileId: ID!) { detachFile(assistantId: $id, fileId: $fileId) { id } }";
const CHANGE = `mutation ($id: ID!, $input: AssistantDraftInput!, $ifVersion: Int) {
  updateAssistantDocument(assistantId: $id, input: $input, ifVersion: $ifVersion) { id } }`;
const SAVE =
  "mutation ($id: ID!, $input: AssistantDraftInput!) { saveAssistantDraft(assistantId: $id, input: $input) { document } }";
const PUBLISH = `mutation ($id: ID!, $ifVersion: Int) {
  publishAssistantDraft(assistantId: $id, ifVersion: $ifVersion) { version { number document } } }`;
const DISCARD = "mutation ($id: ID!) { discardAssistantDraft(assistantId: $id) { id } }";
const RESTORE = `mutation ($id: ID!, $number: Int!) {
  restoreAssistantVersion(assistantId: $id, number: $number) { version { number document } } }`;
const STATE = `query ($id: ID!) { assistant(id: $id) { draft { document } version { number document }
  versions(first: 100, orderBy: OLDEST_FIRST) { nodes { number document } } } }`;
const DIFF = `query ($id: ID!, $from: Int!, $to: Int) {
  assistantDiff(assistantId: $id, from: $from, to: $to) { kind path after } }`;
const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";

interface State {
  readonly draft: { readonly document: Document } | null;
  readonly version: { readonly number: number; readonly document: Document };
  readonly versions: { readonly nodes: readonly State["version"][] };
}

/** Applies changes as RFC 6902 says. */
function applied(document: unknown, changes: readonly Change[]): unknown {
  let result = structuredClone(document);
  for (const { kind, path, after } of changes) {
    const keys = path
      .split("/")
      .slice(1)
      .map((key) =>
        key
          .replaceAll("~1", "/")
          .replaceAll("~0", "~")
          .replace(/^(9|10)$/, "@$1"),
      );
    const last = keys.pop();
    if (last === undefined) {
      result = after;
      continue;
    }
    let place = result as Json;
    for (const key of keys) place = place[key] as Json;
    if (Array.isArray(place))
      place.splice(Number(last), kind === "ADD" ? 0 : 1, ...(kind === "REMOVE" ? [] : [after]));
    else if (kind === "REMOVE") Reflect.deleteProperty(place, last);
    else place[last] = after;
  }
  return result;
}

/** Each sequence sends some hundred requests. */
const MAX_TEST_MS = LONG_SUITE ? 1_200_000 : 240_000;
const LONG = "A long text about opening hours. ".repeat(80);
const word = fc.constantFrom("", "Hello {name}", "Grüße 😀", LONG, `${LONG}!`);
const prompt = fc.constantFrom("You are one.", "You are two.", `${LONG} You are three.`);
const anyFunction = fc.record({
  name: fc.constantFrom("find", "book", "cancel"),
  server: fc.nat(SERVER_COUNT - 1),
  secret: fc.constantFrom("none", "new", "stored"),
  more: fc.constantFrom<Json>(
    {},
    { description: "Finds.", parameters: { properties: { a: { type: "string" } }, type: "object" } },
    { parameters: { type: "object", properties: { a: { type: "string" } } }, description: "Finds." },
    { "@10": 1, "@9": "@1" },
    { "@9": "@1", "@10": 1 },
    { "@10": 1, "@9": "@2", description: "Finds." },
  ),
});
const functions = fc.uniqueArray(anyFunction, { maxLength: 3, selector: ({ name }) => name });
const optional = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] });
const withFunctions = fc.record({ functions: fc.array(anyFunction, { minLength: 1, maxLength: 1 }) });
const common = {
  ...{ initialMessage: word, prompt, resources: word, functions },
  ...{ temperature: fc.constantFrom(0, 0.7, 1.5), maxTokensOutput: fc.constantFrom(1, 250, 999) },
};
/** All fields of the configurations but `chatMode`, because a chat that is switched off does not start. */
const spoken = {
  voice: optional({
    ...common,
    ...{ provider: fc.constantFrom("GROQ", "OPENAI", "ANTHROPIC"), voice: fc.constantFrom("echo", "jack") },
    ...{ model: fc.constantFrom("MIXTRAL", "GPT_4_O"), voiceProvider: fc.constantFrom("OPENAI", "PLAYHT") },
    ...{ backchanneling: fc.boolean(), backgroundSound: fc.constantFrom("OFF", "OFFICE") },
    ...{ dialKeypadFunction: fc.boolean(), endCallFunction: fc.boolean() },
    ...{ endCallMessage: word, endCallPhrases: word },
  }),
  sms: optional({
    ...common,
    ...{ provider: fc.constantFrom("GROQ", "OPENAI"), model: fc.constantFrom("MIXTRAL", "GPT_4_O") },
    ...{ keywords: word, smsMode: fc.boolean(), voiceCallMode: fc.boolean() },
  }),
  chat: optional({
    ...common,
    // The stub answers for OpenAI.
    ...{ provider: fc.constantFrom("GROQ", "OPENAI"), model: fc.constantFrom("GPT_4_O", "GPT_4_O_MINI") },
    quickRepliesEnabled: fc.boolean(),
  }),
};
const theme = optional({
  mode: fc.constantFrom("CHAT_ONLY", "VOICE_ONLY"),
  theme: fc.dictionary(fc.constantFrom("title", "a/b", "~", "10", "9"), word),
});
const names = {
  name: fc.constantFrom("Ada", "Bea"),
  description: fc.constantFrom(null, "Short", LONG),
  variables: fc.constantFrom<Json | null>(
    null,
    { name: "you", long: LONG.repeat(4) },
    { 10: "a", 9: { "x/y": [1, null, 2 ** 53] } },
  ),
};
const rag = optional({
  forceRag: fc.boolean(),
  isRagEnabled: fc.boolean(),
  preserveRagResult: fc.boolean(),
  ragTriggerTopics: word,
});
const origins = fc.subarray(["https://a.example", "https://b.example"]);
const document = optional({
  ...names,
  ...{ ...spoken, theme, rag: optional({ voice: rag, sms: rag, chat: rag }) },
  ...{ allowedOrigins: origins, fileIds: fc.uniqueArray(fc.nat(1), { maxLength: 2 }) },
});
const kind = fc.constantFrom(...KINDS);
const isRest = fc.boolean();
/** The version that a change expects: any, the current one, or another. */
const ifVersion = fc.constantFrom("any", "current", "other");
const share = fc.double({ min: 0, max: 0.999, noNaN: true });
/** A request; `share` takes one of several. */
const step = fc.oneof(
  ...KINDS.map((part) => ({
    weight: part === "chat" ? 2 : 1,
    arbitrary: fc.record({
      ...{ is: fc.constant("part" as const), part: fc.constant<string>(part), isRest },
      input: spoken[part] as fc.Arbitrary<Json>,
    }),
  })),
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant("part" as const),
      part: fc.constant<string>("theme"),
      input: theme as fc.Arbitrary<Json>,
      isRest,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant("assistant" as const), input: optional(names), isRest }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("rag" as const), kind, input: rag }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("origins" as const), origins }) },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constantFrom("attach" as const, "detach" as const), file: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("delete" as const) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("change" as const), input: document, ifVersion }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("save" as const), input: document }) },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constant("save" as const), input: fc.record({ chat: withFunctions }) }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("publish" as const), ifVersion }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("race" as const) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("discard" as const) }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("restore" as const), share }) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant("start" as const),
      what: fc.constantFrom("current", "number", "draft"),
      share,
    }),
  },
  { weight: 3, arbitrary: fc.record({ is: fc.constant("say" as const), share }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Functions = typeof functions extends fc.Arbitrary<infer T> ? T : never;

const slotOf = (kind: string, { name, serverUrl }: Item) => `${kind} ${name} ${new URL(serverUrl).origin}`;
const oneOf = <T>(list: readonly T[], share: number): T | undefined => list[Math.floor(share * list.length)];
const CHANNELS = { voice: "VOICE", sms: "SMS", chat: "TEXT" } as const;

interface Talk {
  readonly id: string;
  readonly document: Document;
  /** Secrets of the draft, and those that were stored when it was copied. */
  readonly draft?: { readonly secrets: Secrets; readonly stored: Secrets };
}

/** An assistant, and what its secrets, draft and conversations should be. */
class Model {
  /** Current secrets by slot. */
  private stored = new Map<string, string>();
  private drafted = new Map<string, string>();
  private readonly talks: Talk[] = [];
  private secrets = 0;
  private isDeleted = false;

  constructor(
    private readonly id: string,
    private readonly file: string,
    private now: State,
  ) {}

  static async make(): Promise<Model> {
    const id = await quietAssistant(running.api);
    const { id: file } = await upload(running.api, { content: "Gone soon." });
    return new Model(id, file, await gql<State>(STATE, { id }));
  }

  async take(one: Step): Promise<void> {
    const before = this.now;
    await this.request(one);
    this.now = await gql<State>(STATE, { id: this.id });
    const { number, document } = this.now.version;
    const isSame = JSON.stringify(document) === JSON.stringify(before.version.document);
    expect([one, number]).toEqual([one, before.version.number + (isSame ? 0 : 1)]);
    await this.checkLive();
    await this.checkDraft();
  }

  /** Each version differs from the next as `assistantDiff` says, and can be restored. */
  async checkVersions(): Promise<void> {
    const { nodes } = this.now.versions;
    expect(nodes.map(({ number }) => number)).toEqual(nodes.map((_, index) => index + 1));
    for (const [index, { number, document }] of nodes.entries()) {
      const next = nodes[(index + 1) % nodes.length]!;
      const changes = await gql<Change[]>(DIFF, { id: this.id, from: number, to: next.number });
      expect(JSON.stringify(applied(document, changes))).toBe(JSON.stringify(next.document));
      const restored = await this.restore({ number, document });
      expect((await this.restore({ number, document })).number).toBe(restored.number);
    }
    this.now = await gql<State>(STATE, { id: this.id });
    await this.checkLive();
  }

  /** Conversations go on as they began, whatever has been restored, but with secrets that are replaced now. */
  async checkTalks(): Promise<void> {
    for (const talk of this.talks) {
      await this.say(talk);
      const items = talk.document.chat.functions.map((item): Item => {
        const secretKey = `secret-${++this.secrets}`;
        if (item.secretKey) this.stored.set(slotOf("chat", item), secretKey);
        else this.stored.delete(slotOf("chat", item));
        return item.secretKey ? { ...item, secretKey } : item;
      });
      await rest("PATCH", `assistants/${this.id}/chat`, { functions: items });
      await this.say(talk);
    }
  }

  private async request(one: Step): Promise<void> {
    const { id } = this;
    if (one.is === "part") {
      const input = this.filled({ [one.part]: one.input }, this.stored)[one.part] as Json;
      if (one.isRest) await rest("PATCH", `assistants/${id}/${one.part}`, input);
      else await gql(update(one.part), { id, input });
    } else if (one.is === "assistant") {
      if (one.isRest) await rest("PATCH", `assistants/${id}`, one.input);
      else await gql(UPDATE, { id, input: one.input });
    } else if (one.is === "rag") await gql(RAG, { id, channel: CHANNELS[one.kind], input: one.input });
    else if (one.is === "origins") await gql(ORIGINS, { id, origins: one.origins });
    else if (one.is === "attach") await gql(ATTACH, { id, fileId: [...files, this.file][one.file] });
    else if (one.is === "detach") await gql(DETACH, { id, fileId: [...files, this.file][one.file] });
    else if (one.is === "delete") {
      if (!this.isDeleted) await rest("DELETE", `files/${this.file}`);
      this.isDeleted = true;
    } else if (one.is === "change") await this.change(one);
    else if (one.is === "save") {
      const input = this.filled(one.input, this.drafted, true);
      expect(typeof (await gql(SAVE, { id, input }))).toBe("object");
    } else if (one.is === "publish") await this.publish(one.ifVersion);
    else if (one.is === "race") await this.race();
    else if (one.is === "discard") {
      await gql(DISCARD, { id });
      this.drafted = new Map();
    } else if (one.is === "restore") await this.restore(oneOf(this.now.versions.nodes, one.share)!);
    else if (one.is === "start") await this.start(one);
    else if (one.is === "say") await this.say(oneOf(this.talks, one.share));
  }

  private async change({ input: given, ifVersion }: { input: Json; ifVersion: string }): Promise<void> {
    const secrets = new Map(this.stored);
    const input = this.filled(given, secrets);
    const answer = await gql(CHANGE, { id: this.id, input, ...this.expected(ifVersion) });
    expect(answer).toEqual(ifVersion === "other" ? "VERSION_CONFLICT" : { id: this.id });
    if (ifVersion !== "other") this.stored = secrets;
  }

  /** Of changes of the same version at once, one is made, and the others are refused. */
  private async race(): Promise<void> {
    const { number } = this.now.version;
    const change = (name: string) =>
      gql<unknown>(CHANGE, { id: this.id, input: { name }, ifVersion: number });
    const answers = await Promise.all(["Cleo", "Dora", "Elsa"].map((name) => change(`${name} ${number}`)));
    const conflicts = answers.filter((one) => one === "VERSION_CONFLICT");
    expect([answers, conflicts.length]).toEqual([expect.arrayContaining([{ id: this.id }]), 2]);
  }

  private async publish(ifVersion: string): Promise<void> {
    const { draft } = this.now;
    const answer = await gql(PUBLISH, { id: this.id, ...this.expected(ifVersion) });
    if (!draft) return expect(answer).toBe("DRAFT_NOT_FOUND");
    if (ifVersion === "other") return expect(answer).toBe("VERSION_CONFLICT");
    const secrets = new Map([...this.stored, ...this.drafted]);
    this.drafted = new Map();
    this.becomes(answer.version as State["version"], draft.document, secrets);
  }

  private async restore({ number, document }: State["version"]): Promise<State["version"]> {
    const { version } = await gql<Pick<State, "version">>(RESTORE, { id: this.id, number });
    this.becomes(version, document, this.stored);
    return version;
  }

  /** The new version has a document, as far as its secrets and files exist. */
  private becomes(version: State["version"], document: Document, secrets: Secrets): void {
    const expected = structuredClone(document) as unknown as Json & { fileIds: string[] };
    for (const kind of KINDS)
      for (const item of (expected[kind] as { functions: (Item & { secretKey?: unknown })[] }).functions) {
        const slot = slotOf(kind, item);
        if (item.secretKey && secrets.has(slot)) this.stored.set(slot, secrets.get(slot)!);
        else {
          delete item.secretKey;
          this.stored.delete(slot);
        }
      }
    if (this.isDeleted) expected.fileIds = expected.fileIds.filter((id) => id !== this.file);
    expect(JSON.stringify(version.document)).toBe(JSON.stringify(expected));
  }

  private expected(ifVersion: string): object {
    const { number } = this.now.version;
    return ifVersion === "any" ? {} : { ifVersion: ifVersion === "current" ? number : number + 1 };
  }

  /**
   * The input of a request with functions that have URLs and secrets.
   * @param secrets change with the functions
   * @param isDraft whether secrets that are removed stay until it is published
   */
  private filled(input: Json, secrets: Map<string, string>, isDraft = false): Json {
    const parts = KINDS.flatMap((kind) => {
      const part = input[kind] as { functions?: Functions } | undefined;
      if (!part?.functions) return [];
      const items = part.functions.map(({ name, server, secret, more }): Item => {
        const value = { none: undefined, new: `secret-${++this.secrets}`, stored: STORED }[secret];
        const item = { name, serverUrl: `${servers[server]!.url}${name}`, ...more };
        const slot = slotOf(kind, item);
        if (typeof value === "string") secrets.set(slot, value);
        else if (!value && !isDraft) secrets.delete(slot);
        return value ? { ...item, secretKey: value } : item;
      });
      return [[kind, { ...part, functions: items }]];
    });
    const { fileIds } = input as { fileIds?: readonly number[] };
    return {
      ...{ ...input, ...(Object.fromEntries(parts) as Json) },
      ...(fileIds && { fileIds: fileIds.map((index) => files[index]) }),
    };
  }

  /** Both interfaces show the current version, with the current secrets. */
  private async checkLive(): Promise<void> {
    const { document } = this.now.version;
    const shown = await Promise.all(PARTS.map((part) => rest("GET", `assistants/${this.id}/${part}`)));
    for (const [index, part] of PARTS.entries()) {
      const { functions: items, ...rest } = shown[index] as Json & { functions?: readonly Item[] };
      const own = document[part] as Json & { readonly functions?: readonly Item[] };
      expect({ ...own, ...(document.rag as Record<string, object>)[part] }).toMatchObject(rest);
      const named = items?.map((item) => [item, this.stored.get(slotOf(part, item))] as const) ?? [];
      expect(named.map(([item]) => item.secretKey)).toEqual(named.map(([, secret]) => secret));
      const kept = named.map(([item, secret]) => (secret ? { ...item, secretKey: STORED } : item));
      expect(JSON.stringify(kept)).toBe(JSON.stringify(own.functions ?? []));
    }
    expect(document).toMatchObject(
      (({ name, variables = null }) => ({ name, variables }))(await rest("GET", `assistants/${this.id}`)),
    );
  }

  private async checkDraft(): Promise<void> {
    const { draft, version } = this.now;
    const changes = await gql<Change[]>(DIFF, { id: this.id, from: version.number });
    if (!draft) expect(changes).toBe("DRAFT_NOT_FOUND");
    else expect(JSON.stringify(applied(version.document, changes))).toBe(JSON.stringify(draft.document));
  }

  private async start({ what, share }: { what: string; share: number }): Promise<void> {
    const { draft, version, versions } = this.now;
    const { number, document } = what === "number" ? oneOf(versions.nodes, share)! : version;
    if (what === "draft" && !draft) return;
    const choice = { current: {}, number: { assistantVersion: number }, draft: { draft: true } }[what];
    const { id } = await gql<{ id: string }>(START, { input: { assistantId: this.id, ...choice } });
    this.talks.push(
      what === "draft"
        ? {
            id,
            document: draft!.document,
            draft: { secrets: new Map(this.drafted), stored: new Map(this.stored) },
          }
        : { id, document },
    );
  }

  /** A turn asks the model with the document that the chat began with, and calls a function with a living secret. */
  private async say(talk: Talk | undefined): Promise<void> {
    if (!talk) return;
    const asked = model.asked.length;
    for (const server of servers) server.received.length = 0;
    const body = { aiChatId: talk.id, role: "USER", channel: "TEXT", content: "Hi", metadata: {} };
    await rest("POST", "ai-chats/messages?wait=true", body);
    const { prompt, temperature, functions: items } = talk.document.chat;
    const { messages, tools = [], temperature: used } = model.asked[asked]!;
    expect(messages[0]!.content).toEqual(expect.stringContaining(prompt as string));
    expect(used).toBe(temperature);
    expect(tools.slice(0, items.length).map((tool) => tool.function.name)).toEqual(
      items.map(({ name }) => name),
    );
    const [item] = items;
    const calls = servers.flatMap(({ url, received }) =>
      received.map(({ headers }) => [new URL(url).origin, headers["x-ck"]]),
    );
    expect(calls).toEqual(item ? [[new URL(item.serverUrl).origin, this.secretOf(talk, item)]] : []);
  }

  private secretOf({ draft }: Talk, item: Item): string | undefined {
    const slot = slotOf("chat", item);
    if (!item.secretKey) return undefined;
    const isChanged = draft?.stored.get(slot) !== this.stored.get(slot);
    return (isChanged ? undefined : draft?.secrets.get(slot)) ?? this.stored.get(slot);
  }
}

test(
  "whatever is changed, drafted, published, restored and said, versions, secrets and conversations stay consistent",
  async () => {
    const sequence = fc.array(step, { minLength: 6, maxLength: 16 });
    const property = fc.asyncProperty(sequence, async (steps) => {
      const made = await Model.make();
      for (const one of steps) await made.take(one);
      await made.take({ is: "start", what: "current", share: 0 }); // chance may have started none
      await made.checkVersions();
      await made.checkTalks();
    });
    await fc.assert(property, { numRuns: LONG_SUITE ? 30 : 4, endOnFailure: true });
    expect(model.asked.length).toBeGreaterThan(0);
  },
  MAX_TEST_MS,
);
