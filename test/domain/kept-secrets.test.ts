import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { secretsIn, slotsIn } from "../../src/assistants/history/function-secrets";
import { SecretSlots } from "../../src/assistants/history/secret-slots";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { LONG } from "../support/suite";

const running = useApp();

const patch = (id: string, functions: readonly unknown[]) =>
  running.api.patch(`/rest/v1/assistants/${id}/chat`, { functions }, 200);
async function secretsOf(id: string) {
  const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
  return running.app.database.scope(organizationId).of(SecretSlots).current(id);
}

const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const url = oneOf<unknown>("https://a.example/1", "https://a.example/2", "https://b.example/", "no URL", 5);
const name = oneOf<unknown>("one", "two", null, 7, { deep: "one" });
const secret = oneOf<unknown>("s1", "s2", "", null, 7);
const any = { requiredKeys: [] };
/** A function in one of the two formats, or in a mixture that nobody should send. */
const item = fc.record(
  {
    name,
    description: oneOf("", "Finds it."),
    serverUrl: url,
    secretKey: secret,
    function: fc.oneof(fc.record({ name }, any), oneOf<unknown>("none", null)),
    server: fc.oneof(fc.record({ url, secret }, any), oneOf<unknown>(null, [1])),
  },
  any,
);
const usual = fc.record(
  { name: oneOf("one", "two", "three"), serverUrl: url, secretKey: secret, description: oneOf("", "It.") },
  { requiredKeys: ["name"] },
);
const list = fc.oneof(fc.array(usual, { maxLength: 3 }), fc.array(item, { maxLength: 3 }));

type Item = Readonly<Record<string, unknown>>;
/** Changes of one function, by which most lists differ only a little from the one before. */
const edit = fc.record({
  at: fc.nat({ max: 2 }),
  how: oneOf("set", "set", "drop", "double", "move", "add"),
  item: fc.oneof(usual, item),
  fields: fc.subarray(["name", "serverUrl", "secretKey", "function", "server"], {
    minLength: 1,
    maxLength: 2,
  }),
});
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;

function edited(before: readonly Item[], { at, how, item: other, fields }: Edit): readonly Item[] {
  const [one, rest] = [before[at], before.filter((_, index) => index !== at)];
  if (!one || how === "add") return [...before, other];
  if (how === "drop") return rest;
  if (how === "double") return [...before, { ...one, secretKey: "s3" }];
  if (how === "move") return [...rest, one];
  const kept = Object.entries(one).filter(([key]) => !fields.includes(key));
  const given = Object.entries(other).filter(([key]) => fields.includes(key));
  return before.with(at, Object.fromEntries([...kept, ...given]));
}

const sequence = fc
  .record({ first: list, edits: fc.array(edit, { minLength: 1, maxLength: 8 }) })
  .map(({ first, edits }) => {
    const lists: (readonly Item[])[] = [first];
    for (const one of edits) lists.push(edited(lists.at(-1)!, one));
    return lists;
  });

const nested = (server: object) => ({ type: "function", function: { name: "one" }, server });
const AT_SERVER = nested({ url: "https://a.example/1", secret: "s1" });
/** Changes that decide about a secret, and that the edits rarely make. */
const EXAMPLES: [(readonly Item[])[]][] = [
  [[[AT_SERVER], [nested({ url: "https://b.example/1", secret: "s1" })]]],
  [[[nested({ secret: "s1" })], [{ type: "function", function: { name: "one" } }]]],
  [[[AT_SERVER], [{ ...AT_SERVER, server: null }], [AT_SERVER]]],
];

test("the secrets of functions that changes remove are kept, and no others", async () => {
  await fc.assert(
    fc.asyncProperty(sequence, async (lists) => {
      const id = await newAssistant(running.api);
      let [kept, live]: Record<string, string>[] = [{}, {}];
      for (const functions of lists) {
        await patch(id, functions);
        const text = JSON.stringify(functions);
        const slots = new Set(slotsIn("chat", text));
        kept = Object.fromEntries(Object.entries({ ...kept, ...live }).filter(([slot]) => !slots.has(slot)));
        live = secretsIn("chat", text);
        expect(await secretsOf(id)).toEqual({ ...kept, ...live });
      }
    }),
    { numRuns: LONG ? 300 : 40, examples: EXAMPLES },
  );
});

const ORIGIN = "https://a.example";
type Make = (secret?: unknown) => Item;
const flat: Make = (secretKey) => ({ name: "one", serverUrl: `${ORIGIN}/flat`, secretKey });
const nestedWith: Make = (secret) => nested({ url: `${ORIGIN}/nested`, secret });
const FORMATS: [string, string, Make, Make][] = [
  ["nested", "flat", nestedWith, flat],
  ["flat", "nested", flat, nestedWith],
];
const RESTORE = `mutation ($id: ID!, $number: Int!) { restoreAssistantVersion(assistantId: $id, number: $number) { id } }`;
/** The secrets in the functions of the chat configuration, in either format. */
async function shown(id: string): Promise<unknown[]> {
  const { functions } = await running.api.get(`/rest/v1/assistants/${id}/chat`, 200);
  return functions.map(({ secretKey, server }: { secretKey?: string; server?: { secret?: string } }) =>
    server ? server.secret : secretKey,
  );
}

describe.each(FORMATS)("a secret of a function in the %s format that becomes %s", (_, __, before, after) => {
  const begun = async () => {
    const id = await newAssistant(running.api);
    await patch(id, [before("old")]); // version 2
    return id;
  };
  const restored = async (id: string) => {
    await running.api.gql(RESTORE, { id, number: 2 });
    return shown(id);
  };

  test("is the new one in every version once it is replaced", async () => {
    const id = await begun();
    await patch(id, [after("new")]);
    expect(await restored(id)).toEqual(["new"]);
  });

  test("is gone from every version once the function is saved without it", async () => {
    const id = await begun();
    await patch(id, [after()]);
    expect(await restored(id)).toEqual([undefined]);
  });

  test("stays if the stored one is asked for", async () => {
    const id = await begun();
    const functions = [after({ stored: true })];
    const { headers } = await running.api.request("PATCH", `/rest/v1/assistants/${id}/chat`, { functions });
    expect([headers.get("warning"), await shown(id)]).toEqual([null, ["old"]]);
  });

  test("is kept while the function is gone", async () => {
    const id = await begun();
    await patch(id, []);
    await patch(id, [after({ stored: true })]);
    expect(await shown(id)).toEqual(["old"]);
  });
});

describe("functions with one name and origin", () => {
  const STORED = { stored: true };
  const twin = (path: string, secretKey?: unknown) => ({
    ...{ name: "one", serverUrl: `${ORIGIN}/${path}` },
    ...(secretKey !== undefined && { secretKey }),
  });
  const UNCLEAR =
    'chat.functions: several functions have or had the name "one" and one origin, so it is unclear whose secrets stay, and they have none. Send them again.';
  const CHANGE = `mutation ($id: ID!, $input: AssistantDraftInput!) { updateAssistantDocument(assistantId: $id, input: $input) { version { number } } }`;
  const SAVE = `mutation ($id: ID!, $input: AssistantDraftInput!) { saveAssistantDraft(assistantId: $id, input: $input) { document } }`;
  const PUBLISH = `mutation ($id: ID!) { publishAssistantDraft(assistantId: $id) { version { number } } }`;
  const ask = async (document: string, variables: object) => {
    const { body } = await running.api.graphql(document, variables as Record<string, unknown>);
    expect(body.errors).toBeUndefined();
    return aboutSecrets(body.extensions.warnings ?? []);
  };
  /** A list with such functions has other warnings, too. */
  const aboutSecrets = (warnings: readonly string[]) => warnings.filter((text) => text.includes("secret"));
  /** Ways to change functions. Each returns what the caller is warned about. */
  const WAYS: [string, (id: string, functions: readonly unknown[]) => Promise<string[]>][] = [
    [
      "PATCH",
      async (id, functions) => {
        const path = `/rest/v1/assistants/${id}/chat`;
        const { headers, status } = await running.api.request("PATCH", path, { functions });
        expect(status).toBe(200);
        const texts = headers.get("warning")?.matchAll(/\d+ \S+ "((?:[^"\\]|\\.)*)"/g) ?? [];
        return aboutSecrets([...texts].map(([, text]) => text!.replaceAll('\\"', '"')));
      },
    ],
    ["updateAssistantDocument", (id, functions) => ask(CHANGE, { id, input: { chat: { functions } } })],
    [
      "a published draft",
      async (id, functions) => {
        const warnings = await ask(SAVE, { id, input: { chat: { functions } } });
        return [...warnings, ...(await ask(PUBLISH, { id }))];
      },
    ],
  ];

  test.each(WAYS)("keep their secrets by %s while there are as many", async (_, change) => {
    const id = await newAssistant(running.api);
    await patch(id, [twin("a", "A"), twin("b", "B")]);
    expect(await change(id, [{ name: "new" }, twin("x", STORED), twin("y", STORED)])).toEqual([]);
    expect(await shown(id)).toEqual([undefined, "A", "B"]);
  });

  test.each(WAYS)("have none by %s once it is unclear which is gone", async (_, change) => {
    const id = await newAssistant(running.api);
    await patch(id, [twin("a", "A"), twin("b", "B"), twin("c", "C")]);
    expect(await change(id, [twin("b", STORED), twin("c", "C")])).toEqual([UNCLEAR]);
    expect(await shown(id)).toEqual([undefined, "C"]);
  });

  test.each(WAYS)("keep by %s the secret that all of them have", async (_, change) => {
    const id = await newAssistant(running.api);
    await patch(id, [twin("a", "A"), twin("b", "A"), twin("c", "A")]);
    expect(await change(id, [twin("b", STORED), twin("c", STORED)])).toEqual([]);
    expect(await shown(id)).toEqual(["A", "A"]);
  });

  test.each(WAYS)("have the secrets that %s sends", async (_, change) => {
    const id = await newAssistant(running.api);
    await patch(id, [twin("a", "A"), twin("b", "B"), twin("c", "C")]);
    expect(await change(id, [twin("a", "A"), twin("b", "C")])).toEqual([]);
    expect(await shown(id)).toEqual(["A", "C"]);
  });

  test("have none once a draft has more of them or fewer than before", async () => {
    const id = await newAssistant(running.api);
    await ask(SAVE, { id, input: { chat: { functions: [twin("a", "A"), twin("b", "B")] } } });
    expect(await ask(SAVE, { id, input: { chat: { functions: [twin("b", STORED)] } } })).toEqual([UNCLEAR]);
    expect(await ask(PUBLISH, { id })).toEqual([]);
    expect(await shown(id)).toEqual([undefined]);
  });

  test.each([2, 3])(
    "have none in a restored version with %d of them, of which one is gone",
    async (count) => {
      const id = await newAssistant(running.api);
      const all = [twin("a", "A"), twin("b", "B"), twin("c", "C")].slice(0, count);
      await patch(id, all); // version 2
      await patch(id, all.slice(1));
      expect(await ask(RESTORE, { id, number: 2 })).toEqual([UNCLEAR]);
      expect(await shown(id)).toEqual(all.map(() => undefined));
    },
  );

  test.each(WAYS)("do not get by %s the secret of one that is gone for long", async (_, change) => {
    const id = await newAssistant(running.api);
    await patch(id, [twin("a", "A"), twin("b", "B")]);
    await patch(id, [twin("a", "A")]);
    expect(await change(id, [twin("new", "N"), twin("a", STORED)])).toEqual([UNCLEAR]);
    expect(await shown(id)).toEqual(["N", undefined]);
  });

  test.each(WAYS)("leave by %s the first one its secret if only it asks", async (_, change) => {
    const id = await newAssistant(running.api);
    await patch(id, [twin("a", "A")]);
    expect(await change(id, [twin("a", STORED), twin("new", "N")])).toEqual([]);
    expect(await shown(id)).toEqual(["A", "N"]);
  });
});

describe("a secret that an earlier release kept for the server of a function", () => {
  const SLOT = JSON.stringify(["chat", "one", "secret", ORIGIN]);
  /** Seals a value of a table as that release did. */
  const sealedFor = async (table: string, place: string, value: string) => {
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    const { crypto } = running.app.database.scope(organizationId).ports;
    return crypto.seal(value, `${organizationId}/${table}/${place}`);
  };
  const begun = async () => {
    const id = await newAssistant(running.api);
    await patch(id, [nestedWith("old")]);
    await patch(id, []);
    const sealed = await sealedFor("function_secrets", `${id}/${SLOT}`, "old");
    await running.database.query(
      "update function_secrets set slot = $2, sealed_secret = $3 where assistant_id = $1",
      [id, SLOT, sealed],
    );
    return id;
  };
  const rowsOf = (id: string) =>
    running.database.query("select slot from function_secrets where assistant_id = $1", [id]);

  test.each<[string, Make]>([
    ["nested", nestedWith],
    ["flat", flat],
  ])("is used by a function in the %s format", async (_, make) => {
    const id = await begun();
    await patch(id, [make({ stored: true })]);
    expect(await shown(id)).toEqual(["old"]);
    expect(await rowsOf(id)).toEqual([]);
  });

  test("is not used once the function was saved without it", async () => {
    const id = await begun();
    await patch(id, [flat()]);
    await patch(id, [nestedWith({ stored: true })]);
    expect(await shown(id)).toEqual([undefined]);
  });

  test("is not used if that release stored the function in the other format", async () => {
    const id = await begun();
    await running.database.query("update chat_configurations set functions = $2 where assistant_id = $1", [
      id,
      JSON.stringify([flat()]),
    ]);
    await running.api.gql(RESTORE, { id, number: 2 });
    expect(await shown(id)).toEqual([undefined]);
  });

  test("is that of a draft which it saved", async () => {
    const id = await newAssistant(running.api);
    const save = `mutation ($id: ID!, $input: AssistantDraftInput!) { saveAssistantDraft(assistantId: $id, input: $input) { basedOn } }`;
    await running.api.gql(save, { id, input: { chat: { functions: [nestedWith("of the draft")] } } });
    const secrets = JSON.stringify({ [SLOT]: "of the draft" });
    await running.database.query("update assistant_drafts set sealed_secrets = $2 where assistant_id = $1", [
      id,
      await sealedFor("assistant_drafts", id, secrets),
    ]);
    await running.api.gql(
      "mutation ($id: ID!) { publishAssistantDraft(assistantId: $id) { version { number } } }",
      { id },
    );
    expect(await shown(id)).toEqual(["of the draft"]);
  });
});
