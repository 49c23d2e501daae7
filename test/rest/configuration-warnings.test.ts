import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";

const running = useApp();

const FUNCTIONS = [
  { nam: "x" },
  { name: "pay", description: "Pays.", parameters: { type: "object", properties: {} } },
  { name: "pay", description: "Pays.", parameters: { type: "object", properties: {} } },
];

test.each([
  ["chat", { provider: "GROQ", model: "GPT_4_O_MINI" }, [/provider: GPT_4_O_MINI is served by OPENAI/]],
  ["sms", { provider: "GROQ" }, [/provider: .* is served by OPENAI, not by GROQ/]],
  ["voice", { voice: "nova", voiceProvider: "ELEVENLABS" }, [/voiceProvider: The voice nova belongs to/]],
  [
    "chat",
    { functions: FUNCTIONS },
    [/functions\.0: The function .* is never offered/, /functions\.2: .* twice/],
  ],
  [
    "theme",
    { theme: { primaryColor: "notacolor" } },
    [/"theme\.primaryColor: The value must be .* ignores it/],
  ],
  [
    "theme",
    { theme: { primaryColour: "teal", "launcher-text": "Chat", plan: "gold", titles: [], title: "Ada" } },
    [
      /"theme\.primaryColour: The widget does not know this key\. Did you mean primaryColor\?"/,
      /theme\.launcher-text: .* launcherText\?/,
    ],
  ],
])("a PATCH of %s with %j names what does not work in Warning headers", async (part, change, expected) => {
  const id = await newAssistant(running.api, { name: "Ada" });
  const { status, headers } = await running.api.request("PATCH", `/rest/v1/assistants/${id}/${part}`, change);
  const warning = headers.get("warning") ?? "";
  expect(status).toBe(200);
  for (const text of expected) expect(warning).toMatch(text);
  expect(warning.match(/299 parley/g)).toHaveLength(expected.length);
  const stored = await running.api.get(`/rest/v1/assistants/${id}/${part}`, 200);
  expect(stored).toMatchObject(change);
  const other = await running.api.request("PATCH", `/rest/v1/assistants/${id}`, { description: "Changed" });
  expect(other.headers.get("warning")).toBeNull();
});
