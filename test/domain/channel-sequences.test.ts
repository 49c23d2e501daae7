import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Answer } from "../support/api";
import { COMPLETIONS, MESSAGES, useEngine } from "../support/engine";
import { endChat, newAssistant } from "../support/factories";
import { newFlow } from "../support/flows";
import { Receiver } from "../support/receiver";
import {
  answeredBy,
  bring,
  chatsWith,
  connect,
  newPerson,
  textsIn,
  type ConnectedNumber,
} from "../support/sms";
import { stubModel, type ModelAsked, type Reply } from "../support/stub-model";
import { smsOf } from "../support/twilio";
import { LONG as LONG_SUITE } from "../support/suite";
import { until } from "../support/until";
import { VisitorClient } from "../support/visitor";
import type { FakeCall } from "../support/vapi";

const SECRET = "one-secret-for-all-calls";
const running = useEngine({ VOICE_ENGINE_SECRET: SECRET, VAPI_PUBLIC_KEY: "public" });

let model: Awaited<ReturnType<typeof stubModel>>;
let functions: Receiver;
beforeAll(async () => {
  functions = await new Receiver((res) => void res.end('"done"')).start();
  model = await stubModel(replyTo);
  await answeredBy(running, model);
});
afterAll(() => Promise.all([model.stop(), functions.stop()]));

/** The model hands over when it is told to go, else it calls the function `note` once in each turn. */
function replyTo({ messages, tools = [] }: ModelAsked): Reply {
  const names = tools.map((tool) => tool.function.name);
  const last = messages.at(-1)!;
  const next = names.find((name) => name === "go_to_second");
  if (next !== undefined && last.role === "user" && last.content === GO)
    return { call: next, arguments: "{}" };
  if (last.role === "tool" || !names.includes("note")) return { text: ["Fine."] };
  return { call: "note", arguments: "{}" };
}

type Json = Record<string, unknown>;
type Values = Readonly<Record<string, string>>;
type Kind = "voice" | "sms" | "chat";
type Setting = "KEEP" | "BLANK" | "REFUSE";
interface Spoken extends Json {
  readonly prompt: string;
  readonly initialMessage: string;
  readonly temperature: number;
  readonly resources: string;
  readonly functions: readonly { description: string; serverUrl: string }[];
}
interface Document extends Json, Record<Kind, Spoken> {
  readonly name: string;
  readonly variables: Values | null;
}
interface Version {
  readonly number: number;
  readonly document: Document;
}

const GO = "Go on.";
const KINDS = ["voice", "sms", "chat"] as const;
const PARTS = ["name", "variables", ...KINDS] as const;
const VOICES = ["paul", "drew"];
const MODELS = { GPT_4_O: "gpt-4o", GPT_4_O_MINI: "gpt-4o-mini" } as const;

const PUBLISH = `mutation ($id: ID!, $input: AssistantDraftInput!) {
  updateAssistantDocument(assistantId: $id, input: $input) { id } }`;
const SAVE = `mutation ($id: ID!, $input: AssistantDraftInput!) {
  saveAssistantDraft(assistantId: $id, input: $input) { document } }`;
const PUBLISH_DRAFT = "mutation ($id: ID!) { publishAssistantDraft(assistantId: $id) { id } }";
const DISCARD = "mutation ($id: ID!) { discardAssistantDraft(assistantId: $id) { id } }";
const RESTORE =
  "mutation ($id: ID!, $number: Int!) { restoreAssistantVersion(assistantId: $id, number: $number) { id } }";
const SETTING = `mutation ($id: ID!, $missingVariables: MissingVariables!) {
  updateAssistant(id: $id, input: { missingVariables: $missingVariables }) { id } }`;
const STATE = "query ($id: ID!) { assistant(id: $id) { version { number document } draft { document } } }";
const DEPLOY = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
const REDEPLOY =
  "mutation ($id: ID!, $input: UpdateDeploymentInput!) { updateDeployment(id: $id, input: $input) { id } }";
const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id greeting } }";
const CALL = "mutation ($input: PlaceAssistantCallInput!) { placeAssistantCall(input: $input) { id } }";
const WIDGET_CALL = "mutation ($input: WidgetCallInput!) { startWidgetCall(input: $input) { webCallUrl } }";
const TOLD = `query ($id: ID!, $assistantId: ID!) { chat(id: $id) { draft version { number } }
  log(assistantId: $assistantId, id: $id) { version { number } }
  events(first: 100, filter: { chatId: $id }) { nodes { assistantVersion } } }`;

/** The ways to begin a conversation. */
const ENTRIES = [
  ...["rest chat", "chat", "chat of a number", "chat with the draft", "chat of the workflow"],
  ...["widget chat", "widget call in its page", "widget call", "web call", "text"],
  ...["call", "call of a number", "call with the draft", "call of the workflow", "inbound call"],
] as const;
type Entry = (typeof ENTRIES)[number];

const who = fc.nat(1);
const share = fc.double({ min: 0, max: 0.999, noNaN: true });
const parts = fc.subarray([...PARTS], { minLength: 1 });
const is = <T extends string>(name: T) => fc.constant(name);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ is: is("publish"), who, parts }) },
  { weight: 1, arbitrary: fc.record({ is: is("restore"), who, share }) },
  { weight: 2, arbitrary: fc.record({ is: is("save"), who, parts }) },
  { weight: 1, arbitrary: fc.record({ is: is("publish draft"), who }) },
  { weight: 1, arbitrary: fc.record({ is: is("discard"), who }) },
  { weight: 1, arbitrary: fc.record({ is: is("rotate"), who, kind: fc.constantFrom(...KINDS) }) },
  {
    weight: 1,
    arbitrary: fc.record({ is: is("set"), who, setting: fc.constantFrom("KEEP", "BLANK", "REFUSE") }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ is: is("deploy"), which: fc.nat(2), share: fc.option(share) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      is: is("start"),
      entry: fc.constantFrom(...ENTRIES),
      isGiven: fc.boolean(),
      share,
    }),
  },
  { weight: 5, arbitrary: fc.record({ is: is("say"), share, goes: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const oneOf = <T>(list: readonly T[], share: number): T => list[Math.floor(share * list.length)]!;

/** A conversation, with what it should run. */
interface Talk {
  readonly entry: Entry;
  readonly kind: Kind;
  /** By the index of the assistant; one without a workflow. */
  readonly versions: readonly Version[];
  readonly isDraft: boolean;
  readonly given: Values;
  readonly id: () => Promise<string>;
  /** Resolves after the answer. */
  readonly say: (words: string) => Promise<unknown>;
  speaker: number;
}

/** An assistant, and what is current. */
class Model {
  versions: Version[] = [];
  draft: Document | undefined;
  setting: Setting = "KEEP";
  readonly secrets = new Map<Kind, string>();
  private changes = 0;

  private constructor(
    readonly id: string,
    private readonly words: string,
  ) {}

  static async make(words: string): Promise<Model> {
    const made = new Model(await newAssistant(running.api), words);
    for (const kind of KINDS) made.secrets.set(kind, "first secret");
    await running.api.gql(PUBLISH, { id: made.id, input: made.contentOf(PARTS, "first secret") });
    await made.read();
    return made;
  }

  get current(): Version {
    return this.versions.at(-1)!;
  }

  /** New values for parts of the document. */
  contentOf(names: readonly (typeof PARTS)[number][], secretKey: unknown = { stored: true }): Json {
    const [number, words] = [++this.changes, `${this.words} ${this.changes}`];
    const spoken = (kind: Kind) => ({
      prompt: `${words} by ${kind} for {who} and {lost}.`,
      initialMessage: `${words} greets {who}, not {lost}.`,
      temperature: (number % 20) / 10,
      model: Object.keys(MODELS)[number % 2],
      resources: `${words} knows this.`,
      functions: [
        {
          name: "note",
          description: `${words} notes.`,
          serverUrl: `${functions.url}${this.id}/${number}`,
          secretKey,
        },
      ],
      ...(kind === "voice" && {
        voice: VOICES[number % 2],
        endCallMessage: `${words} ends.`,
        endCallPhrases: `${words} bye`,
      }),
    });
    const all: Json = {
      name: words,
      variables: { who: `person ${number}` },
      ...Object.fromEntries(KINDS.map((kind) => [kind, spoken(kind)])),
    };
    return Object.fromEntries(names.map((name) => [name, all[name]]));
  }

  async read(): Promise<void> {
    const { assistant } = await running.api.gql(STATE, { id: this.id });
    this.draft = assistant.draft?.document as Document | undefined;
    const version = assistant.version as Version;
    if (version.number !== this.versions.at(-1)?.number) this.versions.push(version);
    expect(version).toEqual(this.current);
  }

  async take(one: Extract<Step, { who: number }>): Promise<void> {
    const { id } = this;
    const { api } = running;
    if (one.is === "publish") await api.gql(PUBLISH, { id, input: this.contentOf(one.parts) });
    else if (one.is === "restore")
      await api.gql(RESTORE, { id, number: oneOf(this.versions, one.share).number });
    else if (one.is === "save") await api.gql(SAVE, { id, input: this.contentOf(one.parts) });
    else if (one.is === "publish draft") await api.graphql(PUBLISH_DRAFT, { id });
    else if (one.is === "discard") await api.gql(DISCARD, { id });
    else if (one.is === "set") {
      this.setting = one.setting;
      await api.gql(SETTING, { id, missingVariables: one.setting });
    } else {
      const secretKey = `secret ${++this.changes}`;
      const items = this.current.document[one.kind].functions.map((item) => ({ ...item, secretKey }));
      await api.gql(PUBLISH, { id, input: { [one.kind]: { functions: items } } });
      this.secrets.set(one.kind, secretKey);
    }
    await this.read();
  }
}

/** A text as a conversation fills it. */
function filled(template: string, { document }: Version, given: Values, setting: Setting): string {
  const values: Values = { ...document.variables, ...given };
  return template.replaceAll(
    /\{(\w+)\}/g,
    (whole, name: string) => values[name] ?? (setting === "KEEP" ? whole : ""),
  );
}

interface Deployment {
  readonly id: string;
  version: Version | undefined;
}

class World {
  private readonly talks: Talk[] = [];
  /** Deployments of the first assistant for inbound calls, texts and a web page. */
  private deployments: Deployment[] = [];
  private workflowId = "";
  private line!: ConnectedNumber;
  private readonly visitors: VisitorClient[] = [];
  private people = 0;

  private constructor(private readonly assistants: readonly [Model, Model]) {}

  static async make(): Promise<World> {
    const world = new World([await Model.make("Ada"), await Model.make("Bea")]);
    const [{ id: assistantId }, { id: second }] = world.assistants;
    world.line = await connect(running, []);
    const onLine = { telephonyConnectionId: world.line.id };
    for (const input of [
      { type: "PHONE_INBOUND", ...onLine },
      { type: "SMS", ...onLine },
      { type: "TEXT_BUBBLE" },
    ]) {
      const { createDeployment } = await running.api.gql(DEPLOY, { input: { assistantId, ...input } });
      world.deployments.push({ id: createDeployment.id, version: undefined });
    }
    const nodes = {
      start: { type: "START" },
      first: { type: "PROMPT", name: "First", assistantId },
      second: { type: "PROMPT", name: "Second", assistantId: second },
      end: { type: "END", name: "Bye" },
    };
    const flow = await newFlow(running.api, nodes, [
      ["start", "first"],
      ["first", "second", { kind: "MODEL", description: "Goes on." }],
      ["second", "end", { kind: "MODEL", description: "Is done." }],
    ]);
    world.workflowId = flow.workflowId;
    const { url, publicKey } = running;
    world.visitors.push(
      await VisitorClient.of(url, publicKey, { deploymentId: world.deployments[2]!.id }),
      await VisitorClient.of(url, publicKey, { assistantId }),
    );
    return world;
  }

  /** Ends the conversations: only ten calls of a number may be live. */
  async close(): Promise<void> {
    for (const talk of this.talks) await endChat(running.api, await talk.id());
    await Promise.all(this.visitors.map((visitor) => visitor.close()));
  }

  async take(one: Step): Promise<void> {
    if (one.is === "start") await this.start(one);
    else if (one.is === "say") await this.say(one);
    else if (one.is === "deploy") {
      const deployment = this.deployments[one.which]!;
      deployment.version = one.share === null ? undefined : oneOf(this.assistants[0].versions, one.share);
      const input = { assistantVersion: deployment.version?.number ?? null };
      await running.api.gql(REDEPLOY, { id: deployment.id, input });
    } else await this.assistants[one.who]!.take(one);
  }

  /** Each conversation goes on as it began, and says so. */
  async checkAll(): Promise<void> {
    for (const talk of this.talks) {
      await this.ask(talk, "Hello");
      const told = await running.api.gql(TOLD, {
        id: await talk.id(),
        assistantId: this.assistants[0].id,
      });
      const { number } = talk.versions[0]!;
      expect([talk.entry, told.chat]).toEqual([talk.entry, { draft: talk.isDraft, version: { number } }]);
      expect(told.log.version.number).toBe(number);
      const numbers = told.events.nodes.map((event: { assistantVersion: number }) => event.assistantVersion);
      expect([...new Set(numbers)]).toEqual([number]);
    }
  }

  private async say({ share, goes }: { share: number; goes: boolean }): Promise<void> {
    const talk = this.talks[Math.floor(share * this.talks.length)];
    if (talk) await this.ask(talk, goes ? GO : "Hello");
  }

  /** A turn asks the model with the version of the conversation, and calls its function with the secret of now. */
  private async ask(talk: Talk, words: string): Promise<void> {
    const asked = model.asked.length;
    functions.received.length = 0;
    await talk.say(words);
    const requests = model.asked.slice(asked);
    const isHandover = words === GO && talk.speaker === 0 && talk.versions.length > 1;
    if (isHandover) talk.speaker = 1;
    const speakers = requests.map((_, index) => (isHandover && index === 0 ? 0 : talk.speaker));
    for (const [index, request] of requests.entries()) this.checkRequest(talk, speakers[index]!, request);
    const item = talk.versions[talk.speaker]!.document[talk.kind].functions[0]!;
    const { secrets } = this.assistants[talk.speaker]!;
    expect([talk.entry, functions.received.map(({ path, headers }) => [path, headers["x-ck"]])]).toEqual([
      talk.entry,
      [[new URL(item.serverUrl).pathname, secrets.get(talk.kind)]],
    ]);
  }

  private checkRequest({ entry, versions, kind, given }: Talk, speaker: number, request: ModelAsked): void {
    const version = versions[speaker]!;
    const { prompt, temperature, resources, model: name, functions: items } = version.document[kind];
    const { setting } = this.assistants[speaker]!;
    const system = String(request.messages[0]!.content);
    expect([entry, system]).toEqual([
      entry,
      expect.stringContaining(filled(prompt, version, given, setting)),
    ]);
    expect(system).toContain(resources);
    expect(request).toMatchObject({ temperature, model: MODELS[name as keyof typeof MODELS] });
    const note = request.tools?.find((tool) => tool.function.name === "note");
    expect(note?.function.description).toBe(items[0]!.description);
  }

  private async start(one: Extract<Step, { is: "start" }>): Promise<void> {
    const { entry, isGiven, share } = one;
    const [first, second] = this.assistants;
    const isDraft = entry.endsWith("draft");
    if (isDraft && !first.draft) return;
    const isText = entry === "text" || entry === "inbound call";
    const given: Values = isGiven && !isText ? { lost: "what was lost" } : {};
    const pinned = oneOf(first.versions, share);
    const current = { ...first.current, ...(isDraft && { document: first.draft! }) };
    const deployed = { "inbound call": 0, text: 1, "widget chat": 2 }[entry as string];
    const version = entry.endsWith("number")
      ? pinned
      : ((deployed === undefined ? undefined : this.deployments[deployed]!.version) ?? current);
    const isFlow = entry.endsWith("workflow");
    const isRefused = first.setting === "REFUSE" && !isText && !isGiven;
    const opened = await this.open(one, { pinned, given, version, isRefused });
    if (!opened) return;
    const versions = isFlow ? [version, second.current] : [version];
    this.talks.push({ ...opened, entry, given, isDraft, versions, speaker: 0 });
  }

  private async open(
    { entry }: Extract<Step, { is: "start" }>,
    opening: { pinned: Version; given: Values; version: Version; isRefused: boolean },
  ): Promise<Pick<Talk, "id" | "say" | "kind"> | undefined> {
    const { pinned, given, isRefused } = opening;
    const [{ id: assistantId }] = this.assistants;
    const { workflowId } = this;
    const choice = entry.endsWith("number")
      ? { assistantId, assistantVersion: pinned.number }
      : entry.endsWith("draft")
        ? { assistantId, draft: true }
        : entry.endsWith("workflow")
          ? { workflowId }
          : { assistantId };
    const greeting = { ...opening, kind: "chat" as Kind };
    if (entry === "text") return this.openText(opening);
    if (entry === "inbound call") return this.openInbound(opening);
    const { api, publicKey } = running;
    if (entry === "rest chat") {
      const body = { ...choice, variables: given };
      const answer = await api.request("POST", "/rest/v1/ai-chats", body);
      return isRefused ? refused(answer) : this.chat(answer.body, greeting);
    }
    if (entry.startsWith("chat")) {
      const answer = await api.graphql(START, { input: { ...choice, variables: given } });
      return isRefused ? refused(answer) : this.chat(answer.body.data.startChat, greeting);
    }
    if (entry === "widget chat" || entry === "widget call in its page")
      return this.openWidget(entry, opening);
    const webCalls = () => running.vapi.calls.filter(({ name }) => name === undefined);
    const seen = webCalls().length;
    if (entry === "widget call" || entry === "web call") {
      const input = { variables: given };
      const answer =
        entry === "widget call"
          ? await this.visitors[1]!.api.graphql(WIDGET_CALL, { input })
          : await api
              .as({ "X-Public-Key": publicKey })
              .request("POST", "/rest/v1/call/web", { ...choice, ...input });
      return isRefused ? refused(answer) : this.engineCall(() => webCalls()[seen], opening);
    }
    return this.openCall(choice, opening);
  }

  private async openCall(
    choice: Json,
    opening: { given: Values; version: Version; isRefused: boolean },
  ): Promise<Pick<Talk, "id" | "say" | "kind"> | undefined> {
    const { api, vapi } = running;
    const phoneNumber = `+4144668${String(1_000 + this.people++)}`;
    const input = { ...choice, phoneNumber, variables: opening.given };
    const answer =
      "draft" in choice
        ? await api.graphql(CALL, { input })
        : await api.request("POST", `/rest/${"workflowId" in choice ? "v2" : "v1"}/call/phone`, input);
    if (opening.isRefused) return refused(answer);
    const { id } = "draft" in choice ? answer.body.data.placeAssistantCall : answer.body;
    const { workflowId } = choice;
    return this.engineCall(() => vapi.calls.find(({ name }) => name === id), {
      ...opening,
      isFlow: workflowId !== undefined,
    });
  }

  /** A chat with a greeting in the response. */
  private chat(
    { id, greeting }: { id: string; greeting: string },
    { given, version, kind }: { given: Values; version: Version; kind: Kind },
  ) {
    const { setting } = this.assistants[0];
    expect(greeting).toBe(filled(version.document[kind].initialMessage, version, given, setting));
    const say = (content: string) =>
      running.api.post(
        "/rest/v1/ai-chats/messages?wait=true",
        { aiChatId: id, role: "USER", channel: "TEXT", content, metadata: {} },
        201,
      );
    return { kind, say, id: () => Promise.resolve(id) };
  }

  private async openWidget(
    entry: Entry,
    { given, version, isRefused }: { given: Values; version: Version; isRefused: boolean },
  ) {
    const kind: Kind = entry === "widget chat" ? "chat" : "voice";
    const visitor = this.visitors[kind === "chat" ? 0 : 1]!;
    const input = { variables: given, channel: kind === "chat" ? "TEXT" : "VOICE" };
    if (isRefused) {
      const query = "mutation ($input: WidgetChatInput!) { startWidgetChat(input: $input) { id } }";
      return refused(await visitor.api.graphql(query, { input }));
    }
    const { id, messages } = await visitor.start(input);
    const { setting } = this.assistants[0];
    expect(messages.map(({ content }) => content)).toEqual([
      filled(version.document[kind].initialMessage, version, given, setting),
    ]);
    const answers = async () =>
      (await visitor.chat(id)).messages.filter(({ role }) => role === "ASSISTANT").length;
    const say = async (words: string) => {
      const before = await answers();
      await visitor.post(id, words);
      await until(async () => (await answers()) > before);
    };
    return { kind, say, id: () => Promise.resolve(id) };
  }

  private async openText({ version }: { version: Version }) {
    const from = newPerson();
    const { setting, id: assistantId } = this.assistants[0];
    const say = async (words: string) => {
      const at = "https://parley.example"; // as the tests of the engine set it
      const answer = await bring(running, this.line, smsOf(this.line, from, words), { at });
      return textsIn(answer.text);
    };
    const greeting = filled(version.document.sms.initialMessage, version, {}, setting);
    expect(await say("Hello")).toEqual([`${greeting}\n\nFine.`]);
    return {
      kind: "sms" as const,
      say,
      id: async () => (await chatsWith(running, assistantId, from))[0]!.id,
    };
  }

  private async openInbound(opening: { given: Values; version: Version }) {
    const id = `inbound-${newPerson()}`;
    const phoneNumber = { number: this.line.phoneNumber };
    const message = {
      type: "assistant-request",
      customer: { number: newPerson() },
      call: { id },
      phoneNumber,
    };
    const answer = await running.api.as({ "x-vapi-secret": SECRET }).post(MESSAGES, { message }, 201);
    return this.engineCall(() => ({ id, assistant: answer.assistant as FakeCall["assistant"] }), opening);
  }

  /** A call that the engine conducts; it may be dialed later. */
  private engineCall(
    find: () => Pick<FakeCall, "id" | "assistant"> | undefined,
    { given, version, isFlow = false }: { given: Values; version: Version; isFlow?: boolean },
  ) {
    const found = async () => {
      const call = await until(() => find());
      checkOrder(call.assistant, version, given, isFlow);
      return call;
    };
    const say = async (content: string) => {
      const { id, assistant } = await found();
      const body = { model: "GPT_4_O", messages: [{ role: "user", content }], call: { id } };
      const { headers } = assistant.model;
      expect((await running.api.as({}).request("POST", COMPLETIONS, body, headers)).status).toBe(201);
    };
    const id = async () => (await found()).assistant.metadata.parleyCallId as string;
    return { kind: "voice" as const, say, id };
  }
}

/** The engine gets the version of the conversation. `missingVariables` may have changed since the call was accepted. */
function checkOrder(order: FakeCall["assistant"], version: Version, given: Values, isFlow: boolean): void {
  const { name, voice } = version.document;
  const variants = (["KEEP", "BLANK"] as const).map((setting) => [
    filled(voice.initialMessage, version, given, setting),
    filled(voice.prompt, version, given, setting),
  ]);
  expect(variants).toContainEqual([order.firstMessage, order.model.messages[0]!.content]);
  const tools = order.model.tools ?? [];
  expect(tools.flatMap((tool) => (tool.type === "function" ? [tool.function.description] : []))).toEqual(
    voice.functions.map(({ description }) => description),
  );
  expect(order).toMatchObject({
    name,
    voice: { voiceId: voice.voice },
    endCallPhrases: [voice.endCallPhrases],
    model: { model: voice.model, temperature: voice.temperature },
  });
  expect(order.endCallMessage).toBe(isFlow ? undefined : voice.endCallMessage);
}

function refused({ body }: Answer): undefined {
  const code = body.errors?.[0].extensions.code ?? body.code;
  expect([code, body]).toEqual(["MISSING_VARIABLES", body]);
}

const MAX_TEST_MS = LONG_SUITE ? 1_200_000 : 240_000;

test(
  "on every channel, a conversation runs the version that it began with, whatever is published, restored or drafted meanwhile",
  async () => {
    const sequence = fc.array(step, { minLength: 10, maxLength: 24 });
    const property = fc.asyncProperty(sequence, async (steps) => {
      const world = await World.make();
      for (const one of steps) await world.take(one);
      await world.checkAll();
      await world.close();
    });
    await fc.assert(property, { numRuns: LONG_SUITE ? 30 : 3, endOnFailure: true });
    expect(model.asked.length).toBeGreaterThan(0);
  },
  MAX_TEST_MS,
);
