import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { stubModel } from "../support/stub-model";

const running = useApp({ WORKER: "on" });
let model: Awaited<ReturnType<typeof stubModel>>;
beforeAll(async () => {
  model = await stubModel({ text: ["Fine."] });
  const input = { provider: "OPENAI", apiKey: "sk-test-1234", baseUrl: model.url };
  const set = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`;
  await running.api.gql(set, { input });
});
afterAll(() => model.stop());

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonRecord = { readonly [key: string]: Json };

/** Stands for a text with a variable of its own. */
const PLACE = "§";
const place = fc.constant(PLACE);
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    place,
    fc.integer(),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", PLACE), tie("value"), { maxKeys: 2 }),
  ),
}));

/** Optional keywords of a JSON Schema: values that are filled in, structure, and texts that nothing fills in. */
const keywords = (schema: fc.Arbitrary<JsonRecord>) => ({
  description: place,
  title: place,
  default: value,
  const: value,
  enum: fc.array(value, { minLength: 1, maxLength: 1 }),
  examples: fc.array(value, { maxLength: 2 }),
  $comment: place,
  format: place,
  pattern: fc.constantFrom("^a$", "(", PLACE),
  contentMediaType: place,
  items: schema,
  not: schema,
  additionalProperties: fc.oneof(fc.boolean(), schema),
  anyOf: fc.array(schema, { minLength: 1, maxLength: 2 }),
  $defs: fc.dictionary(fc.constantFrom("d", PLACE), schema, { maxKeys: 1 }),
});
const { schema } = fc.letrec<{ schema: JsonRecord }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "xsmall" },
    fc.record({ description: place, $comment: place }, { requiredKeys: [] }),
    fc.record(keywords(tie("schema")), { requiredKeys: [] }),
  ) as fc.Arbitrary<JsonRecord>,
}));
const property = fc
  .tuple(schema, fc.constantFrom("string", "number", "object", "unknown"))
  .map(([fields, type]) => ({ ...fields, type }));
const parameters = fc.record(
  {
    type: fc.constant("object"),
    properties: fc.dictionary(fc.constantFrom("city", "description", PLACE), property, { maxKeys: 3 }),
    description: place,
    title: place,
    default: value,
    required: fc.constant([PLACE]),
    $defs: fc.dictionary(fc.constant("d"), schema, { maxKeys: 1 }),
  },
  { requiredKeys: ["type", "properties"] },
);
const declared = { name: fc.constantFrom("f", "g", "no name"), description: place, parameters };
const functionItem = fc.oneof(
  fc.record({ ...declared, serverUrl: fc.constant("https://example.com/{path}") }),
  fc.record({ type: fc.constant("function"), function: fc.record(declared), extra: place }),
);
const configuration = fc.record({
  initialMessage: fc.constantFrom(PLACE, `Hello ${PLACE} and ${PLACE}, {first name}!`),
  prompt: fc.constantFrom(PLACE, "Nothing.", `${PLACE} {2} ${PLACE}`),
  resources: place,
  functions: fc.array(functionItem, { maxLength: 3 }),
});

/** The value with a variable of its own in each place. @param names gets their names */
function named<V extends Json>(value: V, names: string[]): V {
  const text = JSON.stringify(value).replaceAll(PLACE, () => {
    names.push(`v${names.length}`);
    return `{v${names.length - 1}}`;
  });
  return JSON.parse(text) as V; // the same structure
}

const CHANNELS = { TEXT: "chat", SMS: "sms", VOICE: "voice" } as const;
const READ = `query ($id: ID!) { assistant(id: $id) {
  version { document variables { name used hasValue } } configurationWarnings { path code message } } }`;
const UPDATE = `mutation ($id: ID!, $setting: MissingVariables!) {
  updateAssistant(id: $id, input: { missingVariables: $setting }) { missingVariables } }`;
const START = `mutation ($input: StartChatInput!) { startChat(input: $input) { id greeting } }`;
const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { content } }`;

interface Use {
  readonly name: string;
  readonly used: readonly string[];
  readonly hasValue: boolean;
}

/** The variables without a value that warnings name, with their paths in the configuration. */
const unsetIn = (warnings: readonly { path: string; code: string; message: string }[]) =>
  warnings.flatMap(({ path, code, message }) => {
    const name = /^\{(v\d+)\} has no test value/.exec(message)?.[1];
    return code === "UNRESOLVED_VARIABLE" && name ? [`${name} in ${path}`] : [];
  });

/** Everything that a conversation shows and that its model gets. */
async function conversation(assistantId: string, channel: keyof typeof CHANNELS, variables: object) {
  const { startChat } = await running.api.gql(START, { input: { assistantId, channel, variables } });
  const input = { aiChatId: startChat.id, role: "USER", channel, content: "Hello", metadata: {} };
  await running.api.gql(POST, { input });
  const { messages, tools } = model.asked.at(-1)!;
  return JSON.stringify([startChat.greeting, messages, tools]);
}

const namesLeft = (text: string) => new Set([...text.matchAll(/\{(v\d+)\}/g)].map(([, name]) => name!));
const valueOf = (name: string) => `<value of ${name}>`;
const valuesFor = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, valueOf(name)]));
const at = (document: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document);

describe("the variables of a version", () => {
  test("are exactly those that a conversation replaces, and without a value those that stay in it", async () => {
    const seen = { unset: 0, own: 0, apart: 0 };
    const channels = fc.constantFrom(...(Object.keys(CHANNELS) as (keyof typeof CHANNELS)[]));
    const checks = fc.asyncProperty(
      configuration,
      channels,
      fc.infiniteStream(fc.nat(2)),
      async (wanted, channel, sources) => {
        const names: string[] = [];
        const fields = named(wanted as unknown as JsonRecord, names);
        const [none, own, given] = [0, 1, 2].map(() => [] as string[]) as [string[], string[], string[]];
        for (const name of names) [none, own, given][sources.next().value as number]!.push(name);
        const kind = CHANNELS[channel];
        const id = await newAssistant(running.api, { name: "Ada", variables: valuesFor(own) });
        await running.api.patch(`/rest/v1/assistants/${id}/${kind}`, fields, 200);

        const { version, configurationWarnings } = (await running.api.gql(READ, { id })).assistant;
        const { document, variables } = version;
        const uses = variables as Use[];
        expect(uses.map(({ name }) => name)).toEqual(uses.map(({ name }) => name).sort());
        expect(uses.filter(({ hasValue }) => hasValue).map(({ name }) => name)).toEqual(
          uses.map(({ name }) => name).filter((name) => own.includes(name)),
        );
        for (const { name, used } of uses) {
          expect(used).toEqual([expect.stringMatching(new RegExp(`^${kind}\\.`))]);
          expect(at(document, used[0]!)).toContain(`{${name}}`);
        }

        const warned = uses
          .filter(({ hasValue }) => !hasValue)
          .flatMap(({ name, used }) => used.map((path) => `${name} in ${path.slice(kind.length + 1)}`));
        expect(unsetIn(configurationWarnings).sort()).toEqual(warned.sort());

        const used = new Set(uses.map(({ name }) => name));
        const whole = await conversation(id, channel, valuesFor(names));
        expect(names.filter((name) => whole.includes(valueOf(name)))).toEqual(
          names.filter((name) => used.has(name)),
        );
        const apart = namesLeft(whole);
        expect([...apart].filter((name) => used.has(name))).toEqual([]);

        const unset = none.filter((name) => used.has(name));
        const kept = namesLeft(await conversation(id, channel, valuesFor(given)));
        expect([...kept].sort()).toEqual([...unset, ...apart].sort());

        await running.api.gql(UPDATE, { id, setting: "BLANK" });
        const blank = await conversation(id, channel, valuesFor(given));
        expect([...namesLeft(blank)].sort()).toEqual([...apart].sort());
        expect(blank.includes("{first name}")).toBe(whole.includes("{first name}"));
        seen.unset += unset.length;
        seen.own += uses.filter(({ hasValue }) => hasValue).length;
        seen.apart += apart.size;
      },
    );
    await fc.assert(checks, { numRuns: 12 });
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });
});
