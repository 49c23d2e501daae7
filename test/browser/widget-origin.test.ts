import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { WidgetSite } from "../support/widget-page";

const app = useApp({ WORKER: "on" });
const site = new WidgetSite(app);
beforeAll(() => site.start());
afterEach(() => site.clear());
afterAll(() => site.stop());

test("says below an answer that it was looked up, unless a model wrote it, in the page's language", async () => {
  const chat = { resources: "# Opening hours\nWe are open from 9:00 to 17:00." };
  const attributes = { "assistant-id": await site.assistant({ chat }) };
  for (const [locale, words] of [
    ["en", "Looked up, without AI"],
    ["de", "Nachgeschlagen, ohne KI"],
  ] as const) {
    const widget = await site.visit({ attributes: { ...attributes, locale } });
    await widget.open();
    await widget.say("When are you open?");
    await widget.hears("from 9:00 to 17:00");
    expect(await widget.frame.locator(".origin").allInnerTexts()).toEqual([words]);
    expect(await widget.frame.locator(".theirs", { hasText: words }).innerText()).toContain("9:00");
  }
  await site.model({ text: ["Answered."] });
  const widget = await site.visit({ attributes });
  await widget.open();
  await widget.say("When are you open?");
  await widget.hears("Answered.");
  expect(await widget.frame.locator(".origin").count()).toBe(0);
});
