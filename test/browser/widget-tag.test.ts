import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { useApp } from "../support/app";
import { UNKNOWN_ID } from "../support/factories";
import { until } from "../support/until";
import { WidgetSite } from "../support/widget-page";

jest.setTimeout(60_000);

const app = useApp();
const site = new WidgetSite(app);
beforeAll(() => site.start(), 60_000);
afterEach(() => site.clear());
afterAll(() => site.stop());

const SECRET_KEY = `parley_sk_${"x".repeat(36)}`;

describe("mistakes in the script tag", () => {
  const mistakes: [Record<string, string>, string][] = [
    [{ "public-key": "" }, "data-public-key is missing"],
    [{ "assistant-id": "" }, "data-assistant-id and data-deployment-id"],
    [{ "deployment-id": UNKNOWN_ID }, "Set only one of"],
    [{ "public-key": SECRET_KEY }, "contains a SECRET key"],
    [{ "public-key": ` ${SECRET_KEY} ` }, "contains a SECRET key"],
  ];
  test.each(mistakes)("with the attributes %j, nothing is shown or sent", async (changed, words) => {
    const attributes = { "assistant-id": UNKNOWN_ID, ...changed };
    const { page, complaints } = await site.visit({ place: "none" });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    const failed = `<script>CompanionWidget.on("error", (detail) => (document.title = JSON.stringify(detail)))</script>`;
    await page.goto(site.put("/mistaken", { place: "none", html: site.script(attributes) + failed }));
    await page.waitForFunction("document.title.startsWith('{')");
    expect(JSON.parse(await page.title())).toEqual({
      where: "The script tag",
      message: expect.stringContaining(words),
    });
    expect(complaints).toEqual([expect.stringContaining(words)]);
    expect(asked.filter((url) => url.includes("/widget/frame") || url.includes("parley_sk_"))).toEqual([]);
    expect(await page.locator("iframe").count()).toBe(0);
    expect(complaints.join()).not.toContain(SECRET_KEY);
  });

  test("without its container, a frame is not expected to respond until the container is added", async () => {
    const attributes = { "assistant-id": UNKNOWN_ID, appearance: "iframe" };
    // Runs the check for a response at once.
    const before = `const later = setTimeout; window.setTimeout = (work, ms) => later(work, ms >= 20000 ? 0 : ms);`;
    const { page, complaints } = await site.visit({ attributes, before });
    await page.evaluate("new Promise((resolve) => setTimeout(resolve))");
    expect(complaints).toEqual([expect.stringContaining(`No element with id "companion-container" yet`)]);
    await page.route("**/widget/frame*", () => undefined);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement("div"), { id: "companion-container" }))`,
    );
    await until(() => complaints.some((line) => line.includes("No response from")));
  });

  test("a page that adds the script later is notified of a mistake, too", async () => {
    const { page } = await site.visit({ place: "none", html: "<p></p>" });
    const detail = await page.evaluate(`new Promise((resolve) => {
      const script = document.createElement("script");
      Object.assign(script.dataset, { assistantId: "${UNKNOWN_ID}", publicKey: "${SECRET_KEY}" });
      script.src = "${app.url}/widget/companion-widget.js";
      script.onload = () => CompanionWidget.on("error", resolve);
      document.body.append(script);
    })`);
    expect(detail).toEqual({
      where: "The script tag",
      message: expect.stringContaining("make the SECRET key inactive"),
    });
  });
});
