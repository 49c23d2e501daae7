import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Frame } from "playwright-core";
import { useApp } from "../support/app";
import { useEngine } from "../support/engine";
import { until } from "../support/until";
import { untilIn, WidgetSite } from "../support/widget-page";

const app = useApp({ WORKER: "on" });
const site = new WidgetSite(app);
/** Service whose calls run at a voice engine. */
const engine = useEngine({ VAPI_PUBLIC_KEY: "public" });
const withEngine = new WidgetSite(engine);
const sites = [site, withEngine];
beforeAll(() => Promise.all(sites.map((one) => one.start())));
afterEach(() => Promise.all(sites.map((one) => one.clear())));
afterAll(() => Promise.all(sites.map((one) => one.stop())));

/** Fake speech recognition, which hears the argument of `hear`, and speech synthesis, which finishes at once. */
const SPEECH = `
  window.said = [];
  window.listeners = [];
  window.SpeechRecognition = class {
    start() { listeners.push(this); }
    abort() { listeners = listeners.filter((one) => one !== this); }
  };
  window.hear = (transcript, isFinal) => {
    const result = Object.assign([{ transcript }], { isFinal });
    for (const one of listeners) one.onresult({ resultIndex: 0, results: [result] });
  };
  window.refuse = () => { for (const one of listeners) one.onerror({ error: "not-allowed" }); };
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  window.holding = false;
  Object.defineProperty(window, "speechSynthesis", { value: {
    cancel() {},
    speak(utterance) { said.push([utterance.lang, utterance.text]); if (!holding) setTimeout(() => utterance.onend()); },
  } });`;
const DEAF = "delete window.SpeechRecognition; delete window.webkitSpeechRecognition;";
const listening = (frame: Frame) => untilIn(frame, "listeners.length === 1");
const hear = (frame: Frame, words: string, isFinal = true) =>
  frame.evaluate(`hear(${JSON.stringify(words)}, ${isFinal})`);
const GREETING = { initialMessage: "Welcome." };

describe("a call with the browser's speech functions", () => {
  test("recognizes speech, speaks the answer sentence by sentence, and is stored as a VOICE log", async () => {
    const model = await site.model({ text: ["We are **open**. ", "Come by!"] });
    const assistantId = await site.assistant({ voice: { ...GREETING, prompt: "You talk to {user_name}." } });
    const attributes = { "assistant-id": assistantId, locale: "en-GB" };
    const { open, frame, inside, page } = await site.visit({ attributes, before: SPEECH });
    await open();
    await page.evaluate(`CompanionWidget.initializeAssistant({ user_name: "Zoe" })`);
    await frame.getByRole("button", { name: "Talk" }).click();
    await frame.getByRole("button", { name: "Start talking" }).click();
    await listening(inside());
    await frame.getByText("Listening…").waitFor();
    await hear(inside(), "are you", false);
    await frame.getByText("are you").waitFor();
    await hear(inside(), "are you open on Sunday");
    await untilIn(inside(), "said.length === 3");
    await listening(inside());
    expect(await inside().evaluate("said")).toEqual([
      ["en-GB", "Welcome."],
      ["en-GB", "We are open."],
      ["en-GB", "Come by!"],
    ]);
    expect(model.asked[0]!.messages[0]!.content).toContain("You talk to Zoe.");
    expect(model.asked[0]!.messages.at(-1)!.content).toBe("are you open on Sunday");
    await frame.getByRole("button", { name: "Hang up" }).click();
    await frame.getByText("The call has ended.").waitFor();
    const [log] = await app.api.get(`/rest/v1/assistants/${assistantId}/logs`, 200);
    expect(log.type).toBe("VOICE");
    const read = () => app.api.get(`/rest/v1/assistants/${assistantId}/log/${log.id}`, 200);
    await until(async () => (await read()).metadata.status === "ended");
    expect((await read()).messages.items.map(({ content }: { content: string }) => content)).toEqual([
      "Welcome.",
      "are you open on Sunday",
      "We are **open**. Come by!",
    ]);
  });

  test("can be muted, and the assistant can be interrupted", async () => {
    await site.model({ text: ["A long story."] });
    const attributes = { "assistant-id": await site.assistant({ voice: GREETING }) };
    const { open, frame, inside } = await site.visit({ attributes, before: SPEECH });
    await open();
    await frame.getByRole("button", { name: "Talk" }).click();
    await frame.getByRole("button", { name: "Start talking" }).click();
    await listening(inside());
    await frame.getByRole("button", { name: "Mute" }).click();
    await frame.getByText("Microphone is off").waitFor();
    expect(await inside().evaluate("listeners.length")).toBe(0);
    await frame.getByRole("button", { name: "Unmute" }).click();
    await listening(inside());
    await inside().evaluate("holding = true");
    await hear(inside(), "tell me a story");
    await frame.getByText("Speaking…").waitFor();
    expect(await inside().evaluate("listeners.length")).toBe(0);
    await frame.getByRole("button", { name: "Interrupt" }).click();
    await listening(inside());
  });

  test("reports missing speech recognition or microphone permission", async () => {
    const attributes = { "assistant-id": await site.assistant() };
    const deaf = await site.visit({ attributes, before: DEAF });
    await deaf.open();
    await deaf.frame.getByRole("button", { name: "Talk" }).click();
    await deaf.frame.getByText("This browser can’t recognize speech. You can write instead").waitFor();
    await deaf.frame.getByRole("button", { name: "Back" }).click();
    await deaf.box.waitFor();

    const refused = await site.visit({ attributes, before: SPEECH });
    await refused.open();
    await refused.frame.getByRole("button", { name: "Talk" }).click();
    await refused.frame.getByRole("button", { name: "Start talking" }).click();
    await listening(refused.inside());
    await refused.inside().evaluate("refuse()");
    await refused.frame.getByText("The microphone isn’t allowed.").waitFor();
  });

  test.each([
    ["VOICE_ONLY", { textbox: 0, talk: 0, start: 1 }],
    ["CHAT_ONLY", { textbox: 1, talk: 0, start: 0 }],
    ["VOICE_AND_CHAT", { textbox: 1, talk: 1, start: 0 }],
  ])("mode %s shows what it offers", async (mode, shown) => {
    const id = await site.assistant();
    const update = `mutation ($id: ID!, $mode: ThemeMode) { updateThemeConfiguration(assistantId: $id, input: { mode: $mode }) { mode } }`;
    await app.api.gql(update, { id, mode });
    const { launcher, frame } = await site.visit({ attributes: { "assistant-id": id }, before: SPEECH });
    await launcher.click();
    await frame
      .getByRole("textbox")
      .or(frame.getByRole("button", { name: "Start talking" }))
      .waitFor();
    expect({
      textbox: await frame.getByRole("textbox").count(),
      talk: await frame.getByRole("button", { name: "Talk", exact: true }).count(),
      start: await frame.getByRole("button", { name: "Start talking" }).count(),
    }).toEqual(shown);
  });
});

describe("a call with a voice engine", () => {
  test("opens in its own window, which has no access to the page", async () => {
    const attributes = { "assistant-id": await withEngine.assistant() };
    const context = await withEngine.context();
    await context.route("https://calls.example/**", (route) => route.fulfill({ body: "The engine's call" }));
    const { open, frame, page } = await withEngine.visit({ attributes, context });
    await open();
    await frame.getByRole("button", { name: "Talk" }).click();
    const opened = page.waitForEvent("popup");
    await frame.getByRole("button", { name: "Start talking" }).click();
    await (await opened).getByText("The engine's call").waitFor();
    expect(await (await opened).evaluate("window.opener")).toBeNull();
    await frame.getByText("The call is open in another window.").waitFor();
    const address = `https://calls.example/${engine.vapi.calls.at(-1)!.id}`;
    expect((await opened).url()).toBe(address);
    expect(await frame.getByRole("link", { name: "Talk" }).getAttribute("href")).toBe(address);
  });

  test("reports that the engine did not open it", async () => {
    engine.vapi.will({ status: 500 });
    const { open, frame } = await withEngine.visit({
      attributes: { "assistant-id": await withEngine.assistant() },
    });
    await open();
    await frame.getByRole("button", { name: "Talk" }).click();
    await frame.getByRole("button", { name: "Start talking" }).click();
    await frame.getByText("Something went wrong.").waitFor();
  });
});

describe("the call page", () => {
  const call = async (assistantId: string): Promise<string> => {
    const { webCallUrl } = await app.api.post("/rest/v1/call/web", { assistantId }, 200);
    return webCallUrl as string;
  };

  test("conducts the call of its link", async () => {
    const model = await site.model({ text: ["We are open."] });
    const assistantId = await site.assistant({ voice: GREETING, theme: { title: "Bea" } });
    const { page, complaints } = await site.open(await call(assistantId), {}, SPEECH);
    await page.getByRole("heading", { name: "Bea" }).waitFor();
    await page.getByRole("button", { name: "Start talking" }).click();
    await listening(page.mainFrame());
    await hear(page.mainFrame(), "are you open");
    await untilIn(page, "said.length === 2");
    expect(await page.evaluate("said.map(([, words]) => words)")).toEqual(["Welcome.", "We are open."]);
    await page.getByRole("button", { name: "Hang up" }).click();
    await page.getByText("The call has ended.").waitFor();
    expect(model.asked).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  test("shows a short message for an invalid link", async () => {
    const link = new URL(await call(await site.assistant()));
    link.hash = "#token=wrong";
    const { page } = await site.open(link.href, {}, SPEECH);
    await page.getByText("This assistant isn’t available right now.").waitFor();
  });
});
