import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { changesOf, defaultsOf, KINDS } from "../support/shapes";

const running = useApp();
const at = (id: string, kind: string) => `/rest/v1/assistants/${id}/${kind}`;

describe("a new assistant", () => {
  test.each(KINDS)("has a %s configuration with every field and working defaults", async (kind) => {
    const id = await newAssistant(running.api);
    expect(await running.api.get(at(id, kind), 200)).toEqual(defaultsOf(kind));
  });

  test("has no configuration warnings", async () => {
    const id = await newAssistant(running.api);
    const document = "query ($id: ID!) { assistant(id: $id) { configurationWarnings { code } } }";
    expect((await running.api.gql(document, { id })).assistant.configurationWarnings).toEqual([]);
  });
});

describe.each(KINDS)("the %s configuration", (kind) => {
  test("accepts every field of its update body, and is read back unchanged", async () => {
    const { api } = running;
    const path = at(await newAssistant(api), kind);
    const before = await api.get(path, 200);
    const changed = await api.patch(path, changesOf(kind), 200);
    expect(changed).toEqual({ ...before, ...changesOf(kind) });
    expect(await api.get(path, 200)).toEqual(changed);
  });

  test("changes one field at a time and keeps the others", async () => {
    const { api } = running;
    const path = at(await newAssistant(api), kind);
    let expected = await api.get(path, 200);
    for (const [name, value] of Object.entries(changesOf(kind))) {
      expected = { ...expected, [name]: value };
      expect(await api.patch(path, { [name]: value }, 200)).toEqual(expected);
    }
  });

  test("rejects null for each of its fields and stays unchanged", async () => {
    const { api } = running;
    const path = at(await newAssistant(api), kind);
    const before = await api.get(path, 200);
    for (const name of Object.keys(changesOf(kind))) {
      const { details } = await api.patch(path, { [name]: null }, 400);
      expect(details).toEqual([{ path: name, message: "must not be null" }]);
    }
    expect(await api.get(path, 200)).toEqual(before);
  });

  test("accepts the body that was read from it and ignores fields that only GraphQL can set", async () => {
    const { api } = running;
    const path = at(await newAssistant(api), kind);
    const before = await api.get(path, 200);
    const only = kind === "theme" ? { mode: "CHAT_ONLY" } : { isRagEnabled: true, ragTriggerTopics: "x" };
    expect(await api.patch(path, { ...before, ...only }, 200)).toEqual(before);
    expect(await api.patch(path, only, 200)).toEqual(before);
  });

  test("rejects an unknown field and names it", async () => {
    const path = at(await newAssistant(running.api), kind);
    const { details } = await running.api.patch(path, { colour: "red" }, 400);
    expect(details).toEqual([{ path: "colour", message: expect.stringContaining("not a known field") }]);
  });

  test("belongs to its assistant only", async () => {
    const { api } = running;
    const [one, two] = [await newAssistant(api), await newAssistant(api)];
    const before = await api.get(at(two, kind), 200);
    await api.patch(at(one, kind), changesOf(kind), 200);
    expect(await api.get(at(two, kind), 200)).toEqual(before);
  });
});

describe("the values of a configuration", () => {
  test.each([
    ["voice", "model", 12, "CLAUDE_3_5_SONNET", "GPT_5"],
    ["voice", "provider", 3, "ANTHROPIC", "openai"],
    ["voice", "voice", 31, "burt", "BURT"],
    ["voice", "voiceProvider", 3, "PLAYHT", "GROQ"],
    ["voice", "backgroundSound", 3, "OFF", "off"],
    ["sms", "model", 8, "MIXTRAL", "CLAUDE_3_OPUS"],
    ["sms", "provider", 2, "GROQ", "ANTHROPIC"],
    ["chat", "model", 8, "MIXTRAL", "CLAUDE_3_OPUS"],
    ["chat", "provider", 2, "GROQ", "ANTHROPIC"],
  ])(
    "%s.%s is one of %d, which the error for another value lists",
    async (kind, name, count, good, wrong) => {
      const { api } = running;
      const path = at(await newAssistant(api), kind);
      expect((await api.patch(path, { [name]: good }, 200))[name]).toBe(good);
      const { details } = await api.patch(path, { [name]: wrong }, 400);
      expect(details).toEqual([{ path: name, message: expect.stringMatching(/^must be one of /) }]);
      const listed: string[] = details[0].message.replaceAll(/^must be one of |; got .+$/g, "").split(", ");
      expect(listed).toHaveLength(count);
      for (const value of listed) expect((await api.patch(path, { [name]: value }, 200))[name]).toBe(value);
    },
  );

  test.each([
    ["temperature", [0, 2, 1.25], [-0.01, 2.01, "1", true, 1e300]],
    ["maxTokensOutput", [1, 16384], [0, 16385, 1.5, "100", -1]],
    [
      "functions",
      [[], Array.from({ length: 64 }, () => ({}))],
      [Array.from({ length: 65 }, () => ({})), {}, ["x"]],
    ],
    ["chatMode", [true, false], ["true", 1]],
    ["prompt", ["", "x".repeat(1_048_576)], ["x".repeat(1_048_577), 5, "a\u0000b", "\ud800"]],
  ])("chat.%s is limited to its range", async (name, good, wrong) => {
    const { api } = running;
    const path = at(await newAssistant(api), "chat");
    for (const value of good) expect((await api.patch(path, { [name]: value }, 200))[name]).toEqual(value);
    for (const value of wrong) {
      const { details } = await api.patch(path, { [name]: value }, 400);
      expect(details[0].path.split(".")[0]).toBe(name);
    }
  });

  test("get one error per invalid value together, and nothing of the request is stored", async () => {
    const { api } = running;
    const path = at(await newAssistant(api), "voice");
    const before = await api.get(path, 200);
    const body = { prompt: "good", temperature: 3, model: "X", voice: 5, nothing: 1 };
    const { details } = await api.patch(path, body, 400);
    expect(details.map((problem: { path: string }) => problem.path).sort()).toEqual(
      ["model", "nothing", "temperature", "voice"].sort(),
    );
    expect(await api.get(path, 200)).toEqual(before);
  });

  test("get one error each: a value that is not a list has no errors for items", async () => {
    const path = at(await newAssistant(running.api), "chat");
    for (const functions of ["[]", {}, 1, true])
      expect((await running.api.patch(path, { functions }, 400)).details).toEqual([
        { path: "functions", message: expect.stringMatching(/^must be a list; got /) },
      ]);
  });

  test("provider and model can be changed independently", async () => {
    const path = at(await newAssistant(running.api), "chat");
    expect(await running.api.patch(path, { provider: "GROQ" }, 200)).toMatchObject({
      provider: "GROQ",
      model: "GPT_4_O_MINI",
    });
  });
});

describe("functions", () => {
  const ITEMS = [
    {
      secretKey: "s",
      name: "z",
      serverUrl: "https://example.com",
      description: "d",
      parameters: { type: "object" },
    },
    { type: "function", server: { url: "https://example.com" }, function: { name: "b", description: "" } },
    { zebra: null, apple: [3, 2, 1], nested: { y: 1, x: { b: 1, a: 2 } } },
    {},
  ];

  test.each(["voice", "sms", "chat"])(
    "of %s are returned as they were sent, with the same order of keys",
    async (kind) => {
      const { api } = running;
      const path = at(await newAssistant(api), kind);
      const sent = JSON.stringify(ITEMS);
      expect(JSON.stringify((await api.patch(path, { functions: ITEMS }, 200)).functions)).toBe(sent);
      expect(JSON.stringify((await api.get(path, 200)).functions)).toBe(sent);
    },
  );

  test("are replaced completely", async () => {
    const { api } = running;
    const path = at(await newAssistant(api), "sms");
    await api.patch(path, { functions: ITEMS }, 200);
    expect((await api.patch(path, { functions: [{ only: 1 }] }, 200)).functions).toEqual([{ only: 1 }]);
  });
});

test("a theme is replaced completely, and keeps fields that the widget does not know", async () => {
  const { api } = running;
  const path = at(await newAssistant(api), "theme");
  await api.patch(path, { theme: { title: "Ask", position: "left" } }, 200);
  expect(await api.patch(path, { theme: { other: { deep: [null] } } }, 200)).toEqual({
    theme: { other: { deep: [null] } },
    mode: "VOICE_AND_CHAT",
  });
});
