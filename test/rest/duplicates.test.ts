import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { examples } from "../support/examples";
import { newAssistant, newChat } from "../support/factories";

const running = useApp();
const PATH = "/rest/v1/assistants";

describe("duplicating an assistant", () => {
  const CHANGED = {
    voice: { prompt: "Speak.", voice: "paula", temperature: 1.5, endCallPhrases: "bye,\nfarewell" },
    sms: { prompt: "Write.", keywords: "help, info", smsMode: false, functions: [{ z: 1, a: 2 }] },
    chat: { prompt: "Chat.", model: "MIXTRAL", quickRepliesEnabled: true, functions: [{ name: "look_up" }] },
    theme: { theme: { title: "Ask", unknown: { kept: true } } },
  };

  test("copies every field and all four configurations, including settings that only GraphQL can change", async () => {
    const { api } = running;
    const id = await newAssistant(api, { ...examples.createAssistant().body, name: "Ada" });
    for (const [kind, change] of Object.entries(CHANGED))
      await api.patch(`${PATH}/${id}/${kind}`, change, 200);
    await api.gql(
      `mutation ($id: ID!) {
        updateRagSettings(assistantId: $id, channel: SMS, input: { isRagEnabled: true, ragTriggerTopics: "prices" }) { forceRag }
        updateThemeConfiguration(assistantId: $id, input: { mode: CHAT_ONLY }) { mode } }`,
      { id },
    );
    const copy = await api.post(`${PATH}/duplicate/${id}`, undefined, 200);
    expect(copy).toEqual({ ...(await api.get(`${PATH}/${id}`, 200)), id: copy.id, name: "Ada (copy)" });
    expect(copy.id).not.toBe(id);
    for (const [kind, change] of Object.entries(CHANGED)) {
      const copied = await api.get(`${PATH}/${copy.id}/${kind}`, 200);
      expect(copied).toEqual(await api.get(`${PATH}/${id}/${kind}`, 200));
      expect(copied).toMatchObject(change);
    }
    expect((await api.get(`${PATH}/${copy.id}/sms`, 200)).ragTriggerTopics).toBe("prices");
    expect((await api.get(`${PATH}/${copy.id}/theme`, 200)).mode).toBe("CHAT_ONLY");
  });

  test("copies one version of an assistant that changes meanwhile", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    const change = (text: string) =>
      api.gql(
        `mutation ($id: ID!, $text: String!) {
          updateAssistantDocument(assistantId: $id, input: { description: $text, voice: { prompt: $text },
            sms: { prompt: $text }, chat: { prompt: $text }, theme: { theme: { title: $text } } }) { id } }`,
        { id, text },
      );
    await change("0");
    let isOver = false;
    const changes = (async () => {
      for (let number = 1; !isOver; number++) await change(String(number));
    })();
    const texts: string[][] = [];
    for (let count = 0; count < 40; count++) {
      const { duplicateAssistant: copy } = await api.gql(
        "mutation ($id: ID!) { duplicateAssistant(id: $id) { description voice { prompt } sms { prompt } chat { prompt } theme { theme } } }",
        { id },
      );
      const { description, voice, sms, chat, theme } = copy;
      texts.push([description, voice.prompt, sms.prompt, chat.prompt, theme.theme.title]);
    }
    isOver = true;
    await changes;
    expect(texts.filter((of) => new Set(of).size > 1)).toEqual([]);
  });

  test("cuts a long name between characters to append the suffix", async () => {
    const id = await newAssistant(running.api, { name: "👩‍🚀".repeat(85) });
    const { name } = await running.api.post(`${PATH}/duplicate/${id}`, undefined, 200);
    expect([...name]).toHaveLength(255);
    expect(name).toMatch(/ \(copy\)$/);
    await running.api.patch(`${PATH}/${id}`, { name }, 200);
  });

  test("creates an independent copy without logs", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    await newChat(api, id);
    const copy = await api.post(`${PATH}/duplicate/${id}`, undefined, 200);
    await api.patch(`${PATH}/${copy.id}/chat`, { prompt: "Only the copy." }, 200);
    await api.patch(`${PATH}/${id}/sms`, { prompt: "Only the original." }, 200);
    expect((await api.get(`${PATH}/${id}/chat`, 200)).prompt).not.toBe("Only the copy.");
    expect((await api.get(`${PATH}/${copy.id}/sms`, 200)).prompt).not.toBe("Only the original.");
    expect(await api.get(`${PATH}/${copy.id}/logs`, 200)).toEqual([]);
  });

  test.each([
    ["letters", "x".repeat(255)],
    ["emoji, of two units each", "😀".repeat(255)],
    ["emoji after a letter", `x${"😀".repeat(254)}`],
  ])("shortens a name of 255 %s so that the copy can be saved again unchanged", async (_what, name) => {
    const { api } = running;
    const id = await newAssistant(api, { name });
    const copy = await api.post(`${PATH}/duplicate/${id}`, undefined, 200);
    expect(copy.name).toMatch(/ \(copy\)$/);
    expect(copy.name.isWellFormed()).toBe(true);
    expect(name.startsWith(copy.name.slice(0, -" (copy)".length))).toBe(true);
    await api.patch(`${PATH}/${copy.id}`, { name: copy.name }, 200);
    await api.post(`${PATH}/duplicate/${copy.id}`, undefined, 200);
  });
});
