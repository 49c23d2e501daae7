import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { untilIn, WidgetSite } from "../support/widget-page";

const app = useApp({ WORKER: "on" });
const site = new WidgetSite(app);
/** A site with a third origin. */
const elsewhere = new WidgetSite(app);
beforeAll(() => Promise.all([site.start(), elsewhere.start()]));
afterEach(() => Promise.all([site.clear(), elsewhere.clear()]));
afterAll(() => Promise.all([site.stop(), elsewhere.stop()]));

const HTML = `<img src="x" onerror="window.top.hacked = true"><script>window.top.hacked = true</script>`;
const allow = (id: string, origins: readonly string[]) =>
  app.api.gql(
    `mutation ($id: ID!, $origins: [String!]!) { updateAllowedOrigins(assistantId: $id, origins: $origins) { mode } }`,
    { id, origins },
  );

describe("untrusted markup", () => {
  test("in answers is shown as text, and only links to web pages work", async () => {
    const answer = [
      HTML,
      "[good](https://example.com/a) [bad](javascript:alert(1)) [data](data:text/html,x)",
      "![a picture](https://example.com/track.png)",
      "**bold** <b>not bold</b>",
    ].join("\n\n");
    await site.model({ text: [answer] });
    const attributes = { "assistant-id": await site.assistant() };
    const { open, say, frame, hosts, page, hears } = await site.visit({ attributes });
    await open();
    await say(`<b>mine</b> ${HTML}`);
    await hears("not bold");
    const bubble = frame.locator(".theirs.stored .bubble").last();
    expect(await bubble.innerText()).toContain(HTML);
    expect(await bubble.locator("script, img, b").count()).toBe(0);
    expect(await bubble.locator("strong").innerText()).toBe("bold");
    const links = bubble.locator("a");
    expect(await links.evaluateAll((all) => all.map((link) => String(link)))).toEqual([
      "https://example.com/a",
      "https://example.com/track.png",
    ]);
    expect(await links.first().getAttribute("rel")).toContain("noopener");
    expect(await frame.locator(".own .bubble").innerText()).toContain("<b>mine</b>");
    expect([...hosts].some((host) => host.includes("example.com"))).toBe(false);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
  });

  test("in names, greetings and themes has no effect", async () => {
    const theme = {
      title: HTML,
      subtitle: HTML,
      launcherText: HTML,
      primaryColor: "red;} body { display: none",
      backgroundColor: "url(https://example.com/x)",
      fontFamily: `x; background: url("https://example.com/y")`,
      avatarUrl: "javascript:window.top.hacked = true",
      borderRadius: "1px; position: fixed",
    };
    const assistantId = await site.assistant({ name: HTML, theme, chat: { initialMessage: HTML } });
    const { open, frame, page, hosts, launcher } = await site.visit({
      attributes: { "assistant-id": assistantId },
    });
    await launcher.waitFor();
    expect(await launcher.innerText()).toContain("<img");
    await open();
    expect(await frame.locator("h1").innerText()).toContain("<img src=");
    expect(await frame.locator("img, script:not([src])").count()).toBe(0);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect([...hosts].some((host) => host.includes("example.com"))).toBe(false);
  });
});

describe("messages between windows", () => {
  test("the frame ignores messages of other windows", async () => {
    const assistantId = await site.assistant({ chat: { initialMessage: "Hello {user_name}." } });
    const attributes = { "assistant-id": assistantId, appearance: "iframe" };
    const { page } = await site.visit({ attributes, html: `<div id="companion-container"></div>` });
    const frame = page.frameLocator("#companion-container iframe");
    await frame.getByText("Hello {user_name}.").waitFor();
    const spoofed = {
      source: "companion-widget",
      type: "initialize",
      data: { variables: { user_name: "Eve" }, metadata: {} },
    };
    const spoof = `for (let at = 0; at < top.length; at++) top.frames[at].postMessage(${JSON.stringify(spoofed)}, "*")`;
    const attacker = elsewhere.put("/attacker", { place: "none" });
    await page.evaluate(`{
      const attacker = Object.assign(document.createElement("iframe"), { src: ${JSON.stringify(attacker)} });
      attacker.onload = () => (window.attackerThere = true);
      document.body.append(attacker);
    }`);
    await page.waitForFunction("window.attackerThere");
    const [widget, other] = [
      page.frames().find((one) => one.url().includes("/widget/frame"))!,
      page.frames().find((one) => one.url() === attacker)!,
    ];
    await widget.evaluate(
      "window.heard = []; addEventListener('message', ({ data }) => heard.push(data.type))",
    );
    await other.evaluate(spoof);
    await untilIn(widget, "heard.includes('initialize')");
    // A message of the page itself is accepted after the refused ones.
    await page.evaluate(`CompanionWidget.initializeAssistant({ user_name: "Zoe" })`);
    await frame.getByText("Hello Zoe.").waitFor();
    await other.evaluate(spoof);
    await untilIn(widget, "heard.filter((type) => type === 'initialize').length > 2");
    expect(await frame.getByText("Eve").count()).toBe(0);
  });

  test("the page ignores messages of other frames", async () => {
    const attributes = { "assistant-id": await site.assistant() };
    const { open, page, launcher } = await site.visit({ attributes });
    await open();
    const attacker = elsewhere.put("/attacker", { place: "none" });
    await page.evaluate(`{
      window.heard = [];
      addEventListener("message", ({ data }) => heard.push(data.type));
      document.body.append(Object.assign(document.createElement("iframe"), { src: ${JSON.stringify(attacker)} }));
    }`);
    await page.waitForFunction("document.querySelectorAll('iframe').length === 1");
    const other = () => page.frames().find((one) => one.url() === attacker);
    while (!other()) await page.waitForLoadState("networkidle");
    await other()!.evaluate(`parent.postMessage({ source: "companion-widget", type: "close" }, "*")`);
    await page.waitForFunction("heard.includes('close')");
    expect(await launcher.getAttribute("aria-expanded")).toBe("true");
  });

  test("a frame with a wrong origin neither sends nor accepts messages", async () => {
    const assistantId = await site.assistant();
    const source = `${app.url}/widget/frame?publicKey=${app.publicKey}&assistantId=${assistantId}&origin=${encodeURIComponent("https://bank.example")}`;
    const html = `<iframe src="${source.replaceAll("&", "&amp;")}" style="width: 400px; height: 600px"></iframe>`;
    const before = "window.heard = []; addEventListener('message', ({ data }) => heard.push(data))";
    const { page, inside } = await site.visit({ place: "none", html, before });
    await page.waitForLoadState("networkidle");
    const init = {
      source: "companion-widget",
      type: "init",
      appearance: "iframe",
      open: true,
      data: { variables: {}, metadata: {} },
    };
    await page.evaluate(`frames[0].postMessage(${JSON.stringify(init)}, "*")`);
    await untilIn(inside(), "heard.length > 0");
    expect(await page.evaluate("heard")).toEqual([]);
    expect(await inside().locator("main").getAttribute("aria-busy")).toBe("true");
  });
});

describe("allowed origins", () => {
  test("a page of an allowed origin shows the assistant, others cannot", async () => {
    const assistantId = await site.assistant();
    await allow(assistantId, [site.url]);
    const attributes = { "assistant-id": assistantId };
    await (await site.visit({ attributes })).open();
    const stranger = await elsewhere.visit({ attributes });
    await stranger.page.waitForLoadState("networkidle");
    expect(stranger.complaints).toEqual([expect.stringContaining("frame-ancestors")]);
    expect(await stranger.launcher.isVisible()).toBe(false);
    expect(await stranger.page.getByRole("heading", { name: "A shop" }).isVisible()).toBe(true);
  });
});
