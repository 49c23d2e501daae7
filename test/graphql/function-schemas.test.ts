import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { Receiver } from "../support/receiver";
import { talk as talkWith } from "../support/talk";

const running = useApp({ WORKER: "on" });
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Creates a schema whose check takes exponential time. */
function exponential(): object {
  const $defs: Record<string, object> = { d0: {} };
  for (let level = 1; level <= 30; level++) {
    const below = { $ref: `#/$defs/d${level - 1}` };
    $defs[`d${level}`] = { allOf: [below, below, below] };
  }
  return { type: "object", $defs, allOf: [{ $ref: "#/$defs/d30" }] };
}
const text = (pattern: string) => ({ type: "object", properties: { code: { type: "string", pattern } } });

const UNUSABLE: readonly (readonly [name: string, parameters: object, why: string])[] = [
  ["backreference", text("(a)\\1"), "backreference"],
  ["lookahead", text("^(?=.*a).+$"), "lookahead"],
  ["broken", text("("), "not a regular expression"],
  ["large", text("[a-z]{1000}".repeat(20)), "too large"],
  ["slow", exponential(), "too long to check"],
];
const functions = [
  { name: "usable", parameters: text("^(a+)+$") },
  ...UNUSABLE.map(([name, parameters]) => ({ name, parameters, serverUrl: "http://127.0.0.1:1/f" })),
];

describe("functions with unsupported schemas", () => {
  test.each(["chat", "sms", "voice"])("are returned as sent and named in the warnings: %s", async (kind) => {
    const id = await newAssistant(running.api);
    const stored = await running.api.patch(`/rest/v1/assistants/${id}/${kind}`, { functions }, 200);
    expect(stored.functions).toEqual(functions);
    const query =
      "query ($id: ID!) { assistant(id: $id) { configurationWarnings { channel path code message } } }";
    const { assistant } = await running.api.gql(query, { id });
    const channel = { chat: "TEXT", sms: "SMS", voice: "VOICE" }[kind];
    const named = assistant.configurationWarnings.filter(
      (warning: { code: string }) => warning.code === "FUNCTION_NOT_UNDERSTOOD",
    );
    expect(named).toEqual(
      UNUSABLE.map(([, , why], index) => ({
        ...{ channel, code: "FUNCTION_NOT_UNDERSTOOD", path: `functions.${index + 1}` },
        message: expect.stringContaining(why),
      })),
    );
  });

  test("are not offered to the model, unlike the others", async () => {
    const { model, say } = await talk([{ text: ["Fine."] }], { functions });
    await say("Hello");
    const tools = (model.asked[0] as unknown as { tools?: { function: { name: string } }[] }).tools ?? [];
    const names = tools.map((tool) => tool.function.name);
    expect(names).toContain("usable");
    for (const [name] of UNUSABLE) expect(names).not.toContain(name);
  });
});

describe("hostile arguments from a model", () => {
  test("are refused while the service keeps answering", async () => {
    const receiver = await new Receiver().start();
    stops.push(() => receiver.stop());
    const declared = { name: "check", parameters: text("^(a+)+$"), serverUrl: receiver.url };
    const hostile = JSON.stringify({ code: `${"a".repeat(100_000)}!` });
    const { say, log } = await talk([{ call: "check", arguments: hostile }, { text: ["No."] }], {
      functions: [declared],
    });
    const said = say("Check it");
    expect((await fetch(`${running.url}/health/live`)).status).toBe(200);
    expect((await said).content).toBe("No.");
    expect(receiver.received).toEqual([]);
    const { items } = (await log()).messages;
    expect(items.find(({ role }: { role: string }) => role === "TOOL")).toMatchObject({
      content: 'The arguments are wrong: /code must match pattern "^(a+)+$"',
    });
  });
});

async function talk(replies: Parameters<typeof talkWith>[1], configuration: object) {
  const made = await talkWith(running, replies, { configuration });
  stops.push(made.answered, made.model.stop);
  return made;
}
