import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { WORDS } from "../../src/web/widget/app/languages";
import { useApp } from "../support/app";
import { UNKNOWN_ID } from "../support/factories";
import { until } from "../support/until";
import { WidgetSite } from "../support/widget-page";

const app = useApp();
const site = new WidgetSite(app);
beforeAll(() => site.start());
afterEach(() => site.clear());
afterAll(() => site.stop());

const SECRET_KEY = `parley_sk_${"x".repeat(36)}`;

const NO_RESPONSE = "No response from";
/** Runs the check for a response of the frame at once. */
const NO_WAIT =
  "const later = setTimeout; window.setTimeout = (work, ms) => later(work, ms >= 20000 ? 0 : ms);";

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
    const { page, complaints } = await site.visit({ attributes, before: NO_WAIT });
    await page.evaluate("new Promise((resolve) => setTimeout(resolve))");
    expect(complaints).toEqual([expect.stringContaining(`No element with id "companion-container" yet`)]);
    await page.route("**/widget/frame*", () => undefined);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement("div"), { id: "companion-container" }))`,
    );
    await until(() => complaints.some((line) => line.includes(NO_RESPONSE)));
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

describe("a frame that does not respond", () => {
  const reasons: [string, (id: string) => Promise<Record<string, string>>][] = [
    [
      "the page's policy forbids it",
      () => Promise.resolve({ "Content-Security-Policy": "frame-src 'none'" }),
    ],
    [
      "the page's origin is not allowed",
      async (id) => {
        const update = `mutation ($id: ID!) { updateAllowedOrigins(assistantId: $id, origins: ["https://example.com"]) { mode } }`;
        await app.api.gql(update, { id });
        return {};
      },
    ],
    ["it never arrives", () => Promise.resolve({ "X-Lost": "frame" })],
  ];
  test.each(reasons)("causes the event error if %s", async (_reason, prepare) => {
    const id = await site.assistant();
    const headers = await prepare(id);
    const { page, complaints } = await site.visit({ place: "none", before: NO_WAIT });
    if (headers["X-Lost"]) await page.route("**/widget/frame*", () => undefined);
    const listen = `<script>CompanionWidget.on("error", (detail) => (document.title = JSON.stringify(detail)))</script>`;
    const html = site.script({ "assistant-id": id }) + listen;
    await page.goto(site.put("/silent", { place: "none", html, headers }), { waitUntil: "commit" });
    await until(async () => (await page.title()).startsWith("{"));
    const detail = JSON.parse(await page.title()) as { where: string; message: string };
    expect(detail).toEqual({ where: "The frame", message: expect.stringContaining(NO_RESPONSE) });
    expect(complaints).toContain(`[CompanionWidget] The frame: ${detail.message}`);
  });
});

describe("data-locale", () => {
  const complaintsAbout = async (locale: string) => {
    const attributes = { "assistant-id": UNKNOWN_ID, locale };
    const { launcher, complaints } = await site.visit({ attributes });
    await launcher.waitFor();
    return complaints.filter((line) => line.includes("data-locale"));
  };

  test.each(["xx", "deutsch", "d"])("%s is ignored, which the console says", async (locale) => {
    const languages = Object.keys(WORDS).sort().join(", ");
    expect(await complaintsAbout(locale)).toEqual([
      `[CompanionWidget] data-locale="${locale}" is ignored: its language must be one of ${languages}.`,
    ]);
  });

  test.each(["", "de", "de-AT", "zh_Hant_TW", "iw"])("%j causes no complaint", async (locale) => {
    expect(await complaintsAbout(locale)).toEqual([]);
  });
});
