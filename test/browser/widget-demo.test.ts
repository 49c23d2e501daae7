import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { pasted, WITHOUT_CLIPBOARD } from "../support/browser";
import { WidgetSite } from "../support/widget-page";

const app = useApp({ WORKER: "on" });
const site = new WidgetSite(app);
beforeAll(() => site.start());
afterEach(() => site.clear());
afterAll(() => site.stop());

describe("the demo page", () => {
  test("creates an assistant if there is none, and shows both appearances", async () => {
    const { page, launcher, complaints, hosts } = await site.open("/widget/demo");
    await page.frameLocator("#companion-container iframe").getByRole("textbox").waitFor();
    await launcher.click();
    await page.frameLocator("dialog iframe").getByRole("textbox").waitFor();
    expect(complaints).toEqual([]);
    expect([...hosts]).toEqual([new URL(app.url).host]);
  });

  test("offers a snippet that works on a page of another origin", async () => {
    const id = await site.assistant({ chat: { initialMessage: "Copied." } });
    const { page } = await site.open(`/widget/demo?assistantId=${id}`, { permissions: ["clipboard-write"] });
    const snippets = page.locator("pre code");
    await page.getByRole("button", { name: "Copy" }).first().click();
    await page.getByText("Copied", { exact: true }).first().waitFor();
    const [bubble, iframe] = await snippets.allInnerTexts();
    const elsewhere = await site.visit({ place: "none", html: bubble! });
    await elsewhere.launcher.click();
    await elsewhere.frame.getByText("Copied.").waitFor();
    const embedded = await site.visit({ place: "none", html: iframe! });
    await embedded.frame.getByText("Copied.").waitFor();
  });

  test("copies a snippet where browsers deny the clipboard, as they do without HTTPS", async () => {
    const id = await site.assistant();
    const { page } = await site.open(`/widget/demo?assistantId=${id}`, {}, WITHOUT_CLIPBOARD);
    await page.getByRole("button", { name: "Copy the code with values" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    await page.evaluate(`document.body.append(document.createElement("input"))`);
    expect(await pasted(page, "input")).toContain("CompanionWidget.initializeAssistant");
  });

  test.each([1440, 360])("fits a window of %i pixels with a long name of an assistant", async (width) => {
    const id = await site.assistant({ name: "N".repeat(200) });
    await site.assistant({ name: "Two " + "long words ".repeat(20) });
    for (const path of ["/widget/demo", `/widget/demo?assistantId=${id}`]) {
      const { page } = await site.open(path, { viewport: { width, height: 800 } });
      await page.locator("main").getByText("N".repeat(20)).first().waitFor({ state: "attached" });
      expect([path, await page.evaluate(OUTSIDE)]).toEqual([path, []]);
    }
  });

  test("lists the existing assistants", async () => {
    await site.assistant({ name: "Tom" });
    await site.assistant({ name: "Bea", chat: { initialMessage: "I am Bea." } });
    const { page } = await site.open("/widget/demo");
    await page.getByRole("button", { name: "Bea" }).click();
    await page.frameLocator("#companion-container iframe").getByText("I am Bea.").waitFor();
    expect(await page.getByRole("combobox").locator("option:checked").innerText()).toBe("Bea");
  });

  test("tells assistants of the same name apart by the beginnings of their ids", async () => {
    const ids = [await site.assistant({ name: "Eve" }), await site.assistant({ name: "Eve" })];
    const { page } = await site.open("/widget/demo");
    const entries = page.getByRole("button", { name: /^Eve/ });
    await entries.first().waitFor();
    const shown = (await entries.allInnerTexts()).map((text) => /^Eve \((.{8,})…\)$/.exec(text)![1]!);
    expect(new Set(shown).size).toBe(2);
    const owners = shown.map((start) => ids.filter((id) => id.startsWith(start)));
    expect(owners.flat().sort()).toEqual(ids.sort());
    const [start] = shown;
    await entries.first().click();
    expect(await page.getByRole("combobox").locator("option:checked").innerText()).toContain(start);
  });

  describe.each([
    [360, 740],
    [768, 1024],
    [1000, 640],
    [1440, 900],
    [1440, 640],
  ])("in a window of %i × %i pixels", (width, height) => {
    test("has nothing under the bubble, at every scroll position", async () => {
      const id = await site.assistant({ theme: { launcherText: "Talk to Ada" } });
      const { page, launcher } = await site.open(`/widget/demo?assistantId=${id}`, {
        viewport: { width, height },
      });
      await launcher.waitFor();
      await page.frameLocator("#companion-container iframe").getByRole("textbox").waitFor();
      const { covered, seen, positions } = (await page.evaluate(COVERED_BY_BUBBLE)) as Covered;
      expect(covered).toEqual([]);
      expect(positions).toBeGreaterThan(1);
      expect(seen).toBeGreaterThan(10);
    });
  });
});

/** Buttons and menus that are wider than their part of the page. */
const OUTSIDE = `[...document.querySelectorAll("main button, main select")]
  .filter((one) => one.getBoundingClientRect().right > (one.closest(".words") ?? document.querySelector("main")).getBoundingClientRect().right)
  .map(({ outerHTML }) => outerHTML.slice(0, 80))`;

interface Covered {
  /** Texts and boxes that intersect the bubble. */
  readonly covered: string[];
  /** Texts and boxes that were compared, over all scroll positions. */
  readonly seen: number;
  /** Scroll positions. */
  readonly positions: number;
}

/** Scrolls through the page and compares the bubble with each visible line of text, field, button and frame. */
const COVERED_BY_BUBBLE = `(() => {
  const launcher = document.querySelector("#companion-widget").shadowRoot.querySelector("button");
  const main = document.querySelector("main");
  const isInside = main.scrollHeight > main.clientHeight + 1;
  const scroller = isInside ? main : document.documentElement;
  const boxes = () => {
    const found = [];
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      for (const rect of range.getClientRects()) found.push([walker.currentNode.textContent, rect]);
    }
    for (const element of main.querySelectorAll("iframe, button, select, input, pre"))
      found.push([element.tagName, element.getBoundingClientRect()]);
    return found;
  };
  const covered = new Set();
  let [seen, positions] = [0, 0];
  for (let top = 0; ; top += 40) {
    scroller.scrollTop = top;
    positions++;
    const { top: low, bottom: high } = isInside ? main.getBoundingClientRect() : { top: 0, bottom: innerHeight };
    const bubble = launcher.getBoundingClientRect();
    for (const [what, rect] of boxes()) {
      const [from, to] = [Math.max(rect.top, low), Math.min(rect.bottom, high)];
      if (to <= from || rect.width === 0) continue;
      seen++;
      if (rect.left < bubble.right && rect.right > bubble.left && from < bubble.bottom && to > bubble.top)
        covered.add(what.slice(0, 60) + " at " + top);
    }
    if (scroller.scrollTop < top) return { covered: [...covered], seen, positions };
  }
})()`;
