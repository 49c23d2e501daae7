import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { WidgetSite } from "../support/widget-page";

const running = useApp({ WORKER: "on" });
const site = new WidgetSite(running);
beforeAll(() => site.start());
afterAll(() => site.stop());
afterEach(() => site.clear());

describe("the bubble", () => {
  test("opens only when it has something to show, however early the page asks", async () => {
    const context = await site.context();
    let release = () => undefined as void;
    const released = new Promise<void>((resolve) => (release = resolve));
    await context.route("**/widget/frame?*", async (route) => {
      await released;
      await route.continue();
    });
    const page = await context.newPage();
    const attributes = { "assistant-id": await site.assistant() };
    await page.goto(site.put("/slow", { attributes }), { waitUntil: "commit" }); // the frame delays the rest
    await page.waitForFunction("window.CompanionWidget");
    await page.evaluate("CompanionWidget.open()");
    expect(await page.locator("#companion-widget dialog[open]").count()).toBe(0);
    release();
    await page.frameLocator("iframe").getByRole("textbox").waitFor();
  });

  test("stays open or closed after a reload", async () => {
    const widget = await site.visit({ attributes: { "assistant-id": await site.assistant() } });
    await widget.open();
    await widget.page.reload();
    await widget.box.waitFor();
    await widget.page.evaluate("CompanionWidget.close()");
    await widget.page.reload();
    await widget.launcher.waitFor();
    expect(await widget.launcher.getAttribute("aria-expanded")).toBe("false");
  });
});

test("a button of the page opens the bubble, moves the focus into it, and gets the focus back", async () => {
  const { page, launcher } = await site.visit({
    attributes: { "assistant-id": await site.assistant() },
    before: `addEventListener("DOMContentLoaded", () => {
      const button = Object.assign(document.createElement("button"), { id: "ask", textContent: "Ask us" });
      button.addEventListener("click", () => CompanionWidget.open());
      document.body.prepend(button);
    });`,
  });
  await launcher.waitFor();
  const box = page.frameLocator("iframe").getByRole("textbox");
  const focused = () => page.evaluate("document.activeElement.id || document.activeElement.tagName");
  const ask = async () => {
    await page.locator("#ask").focus();
    await page.keyboard.press("Enter");
    await box.waitFor();
  };
  await ask();
  await page.keyboard.press("Escape");
  await page.waitForFunction("document.activeElement.id === 'ask'");
  await ask();
  // Once more while the dialog is open.
  await ask();
  expect(await focused()).toBe("companion-widget");
  await page.keyboard.press("Escape");
  await page.waitForFunction("document.activeElement.id === 'ask'");
});

describe("the events of a page", () => {
  const LISTEN = `document.addEventListener("companion-iframe-loaded", () => {
    window.events = ["loaded"];
    for (const name of ["ready", "open", "error"])
      CompanionWidget.on(name, () => window.events.push(name));
  });`;

  test("say that the widget is ready before it opens", async () => {
    const attributes = { "assistant-id": await site.assistant() };
    const widget = await site.visit({ attributes, before: LISTEN });
    await widget.open();
    expect(await widget.page.evaluate("window.events")).toEqual(["loaded", "ready", "open"]);
  });

  test("say that it failed, and not that it is ready, if it cannot start", async () => {
    const attributes = { "assistant-id": await site.assistant(), "public-key": "no such key" };
    const widget = await site.visit({ attributes, before: LISTEN });
    await widget.launcher.waitFor();
    expect(await widget.page.evaluate("window.events")).toEqual(["loaded", "error"]);
  });
});
