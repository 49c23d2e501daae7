import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { BrowserContextOptions, Frame, Page } from "playwright-core";
import { WORDS } from "../../src/web/widget/app/languages";
import { useApp } from "../support/app";
import { UNKNOWN_ID } from "../support/factories";
import { WidgetSite } from "../support/widget-page";

const app = useApp({ WORKER: "on" });
const site = new WidgetSite(app);
beforeAll(() => site.start());
afterEach(() => site.clear());
afterAll(() => site.stop());

const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Violations that axe finds in a document, by rule and element. */
async function faults(place: Page | Frame): Promise<unknown> {
  if (await place.evaluate("!window.axe")) await place.evaluate(AXE);
  return place.evaluate(`axe.run(document, { iframes: false, resultTypes: ["violations"] }).then(({ violations, passes }) => {
    if (!passes.some(({ id }) => id === "color-contrast")) throw new Error("axe saw nothing");
    return violations.map(({ id, nodes }) => [id, nodes.map(({ target, failureSummary }) => target + " " + failureSummary)]);
  })`);
}

const ANSWER =
  "Our **hours**:\n\n| Day | Hours |\n|---|---|\n| Monday | 9 to 5 |\n\n```\ncode\n```\n\n- [our page](https://example.com)\n\n> quoted `code`";
const PHONE = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
const THEMES: Readonly<Record<string, [object, BrowserContextOptions]>> = {
  "without a theme": [{}, {}],
  "by night": [{}, { colorScheme: "dark" }],
  "on a phone": [{ launcherText: "Ask us" }, PHONE],
  "in colours that can hardly be read": [
    { primaryColor: "#ffe94d", backgroundColor: "#fffbe0", textColor: "#f5eec0", borderRadius: 0 },
    {},
  ],
  "on a dark ground": [{ primaryColor: "#123", backgroundColor: "#0b0b0f", textColor: "#333" }, {}],
};

describe("axe reports no violations", () => {
  test.each(Object.entries(THEMES))("in a conversation %s", async (_how, [theme, context]) => {
    await site.model({ text: [ANSWER] }, { text: [`["Yes", "No"]`] });
    const chat = { quickRepliesEnabled: true } as never;
    const attributes = {
      "assistant-id": await site.assistant({ theme: { subtitle: "Here for you", ...theme }, chat }),
    };
    const { launcher, open, page, inside, say, frame } = await site.visit({ attributes, context });
    await launcher.waitFor();
    expect(await faults(page)).toEqual([]);
    await open();
    expect(await faults(inside())).toEqual([]);
    await say("When are you open?");
    await frame.getByRole("group", { name: "Suggested replies" }).waitFor();
    expect(await faults(inside())).toEqual([]);
    expect(await faults(page)).toEqual([]);
    await frame.getByRole("button", { name: "New conversation" }).click();
    await frame.getByRole("button", { name: "Earlier conversations" }).click();
    await frame.getByRole("listitem").waitFor();
    expect(await faults(inside())).toEqual([]);
    await frame.getByRole("listitem").getByRole("button").click();
    await frame.getByText("This conversation has ended.").waitFor();
    expect(await faults(inside())).toEqual([]);
  });

  test("while offline, while waiting for an answer, and after a failure", async () => {
    let answer = () => undefined as void;
    await site.model({ text: ["At", " last"], held: new Promise<void>((resolve) => (answer = resolve)) });
    const { open, page, inside, say, frame } = await site.visit({
      attributes: { "assistant-id": await site.assistant() },
    });
    await open();
    await say("Hi");
    await frame.locator(".message[inert]").waitFor();
    expect(await faults(inside())).toEqual([]);
    answer();
    await frame.locator(".theirs.stored").nth(1).waitFor();
    await page.context().setOffline(true);
    await say("Are you there?");
    await frame.getByText("No connection.").waitFor();
    expect(await faults(inside())).toEqual([]);
    await page.context().setOffline(false);
    await site.model({ status: 500 });
    await say("Still?");
    await frame.locator(".failed").waitFor();
    expect(await faults(inside())).toEqual([]);
  });

  test("in a call, and if the assistant is unavailable", async () => {
    const before = "window.SpeechRecognition = class { start() {} abort() {} }";
    const { open, inside, frame } = await site.visit({
      attributes: { "assistant-id": await site.assistant() },
      before,
    });
    await open();
    await frame.getByRole("button", { name: "Talk" }).click();
    expect(await faults(inside())).toEqual([]);
    await frame.getByRole("button", { name: "Start talking" }).click();
    await frame.getByText("Hello! How can I help you today?").waitFor();
    expect(await faults(inside())).toEqual([]);

    const nothing = await site.visit({ attributes: { "assistant-id": UNKNOWN_ID } });
    await nothing.launcher.click();
    await nothing.frame.getByText("This assistant isn’t available").waitFor();
    expect(await faults(nothing.inside())).toEqual([]);
  });

  test.each(["light", "dark"] as const)("on the demo page in %s mode", async (colorScheme) => {
    const id = await site.assistant({ chat: { initialMessage: "Hello there." } });
    const { page, launcher } = await site.open(`/widget/demo?assistantId=${id}`, { colorScheme });
    await page.frameLocator("#companion-container iframe").getByText("Hello there.").waitFor();
    await launcher.waitFor();
    expect(await faults(page)).toEqual([]);
  });
});

describe("keyboard use", () => {
  test("opens, operates and closes the widget without losing the focus", async () => {
    await site.model({ text: ["Sure."] });
    const attributes = { "assistant-id": await site.assistant() };
    const { launcher, page, frame, box, hears } = await site.visit({ attributes });
    await launcher.waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await frame.locator("textarea:focus").waitFor();
    await page.keyboard.type("One");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("Two");
    expect(await box.inputValue()).toBe("One\nTwo");
    await page.keyboard.press("Enter");
    await hears("Sure.");
    expect(await box.inputValue()).toBe("");
    await frame.locator("textarea:focus").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.shadowRoot.activeElement.className")).toContain(
      "launcher",
    );
    await page.keyboard.press("Enter");
    await frame.locator("textarea:focus").waitFor();
    await frame.getByRole("button", { name: "Talk" }).focus();
    await page.keyboard.press("Enter");
    await frame.locator("button:focus", { has: page.locator(".icon-back") }).waitFor();
    await page.keyboard.press("Enter");
    await frame.locator("textarea:focus").waitFor();
  });

  test("leaves the page's focus alone if the widget is embedded", async () => {
    const attributes = { "assistant-id": await site.assistant(), appearance: "iframe" };
    const html = `<input autofocus id="search" /><div id="companion-container"></div>`;
    const { page, box } = await site.visit({ attributes, html });
    await box.waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("search");
  });
});

describe("other languages", () => {
  test.each(Object.entries(WORDS))(
    "%s: everything is translated and has the right text direction",
    async (language, words) => {
      const attributes = { "assistant-id": await site.assistant(), locale: language };
      const { launcher, frame, page } = await site.visit({ attributes });
      await page.getByRole("button", { name: words.open, exact: true }).waitFor();
      await launcher.click();
      await frame.getByRole("textbox", { name: words.write }).waitFor();
      await frame.getByRole("button", { name: words.close, exact: true }).waitFor();
      const direction = ["ar", "he"].includes(language) ? "rtl" : "ltr";
      await frame.locator(`html[lang="${language}"][dir="${direction}"]`).waitFor();
      const english = Object.entries(WORDS.en).filter(
        ([key, text]) => words[key as keyof typeof words] === text,
      );
      if (language !== "en")
        expect(english.map(([key]) => key).filter((key) => key !== "conversation")).toEqual([]);
    },
  );

  test("a name that is written from right to left stands beside the avatar, and is cut at its end", async () => {
    const short = "عيادة الأسنان";
    for (const name of [short, `${short} ${"النجمة الذهبية للاستقبال ".repeat(2)}`.trim()]) {
      const attributes = { "assistant-id": await site.assistant({ name }), locale: "en" };
      const { launcher, frame } = await site.visit({ attributes });
      await launcher.click();
      const title = frame.getByRole("heading", { name });
      await title.waitFor();
      expect(
        await title.evaluate((one) => ({
          isRightToLeft: one.matches(":dir(rtl)"),
          gap: one.getBoundingClientRect().left - one.parentElement!.getBoundingClientRect().left,
          isCut: one.scrollWidth > one.clientWidth,
        })),
      ).toEqual({ isRightToLeft: true, gap: 0, isCut: name !== short });
    }
  });

  test("falls back to the visitor's language, and from a region to its language", async () => {
    const id = await site.assistant();
    const context = { locale: "fr-CA" };
    const { frame, launcher } = await site.visit({
      attributes: { "assistant-id": id, locale: "tlh" },
      context,
    });
    await launcher.click();
    await frame.locator(`html[lang="fr-CA"]`).waitFor();
    const swiss = await site.visit({ attributes: { "assistant-id": id, locale: "de-CH" }, context });
    await swiss.launcher.click();
    await swiss.frame.getByRole("textbox", { name: WORDS.de.write }).waitFor();
  });
});
