import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { WidgetSite } from "../support/widget-page";

jest.setTimeout(60_000);

const app = useApp({ WORKER: "on" });
const site = new WidgetSite(app);
beforeAll(() => site.start(), 60_000);
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

  test("lists the existing assistants", async () => {
    await site.assistant({ name: "Tom" });
    await site.assistant({ name: "Bea", chat: { initialMessage: "I am Bea." } });
    const { page } = await site.open("/widget/demo");
    await page.getByRole("button", { name: "Bea" }).click();
    await page.frameLocator("#companion-container iframe").getByText("I am Bea.").waitFor();
    expect(await page.getByRole("combobox").locator("option:checked").innerText()).toBe("Bea");
  });
});
