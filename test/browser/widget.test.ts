import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Page } from "playwright-core";
import { useApp } from "../support/app";
import { UNKNOWN_ID } from "../support/factories";
import { until } from "../support/until";
import { WidgetSite } from "../support/widget-page";

const app = useApp({ WORKER: "on" });
const site = new WidgetSite(app);
beforeAll(() => site.start());
afterEach(() => site.clear());
afterAll(() => site.stop());

const GREETS = { initialMessage: "Hello {user_name}, this is {shop}." };
const CONTAINER = `<div id="companion-container" style="height: 500px"></div>`;

/** Records the event on both targets; runs before the widget's script. */
const COUNTING = `
  window.loaded = [];
  for (const [name, target] of [["document", document], ["window", window]])
    target.addEventListener("companion-iframe-loaded", () => window.loaded.push(name));`;
const loaded = async (page: Page) => {
  await page.waitForFunction("loaded.length > 1");
  return page.evaluate("loaded");
};

/** Computed style of the button. */
const cssOf = (page: Page, property: string): Promise<unknown> =>
  page.evaluate(
    `getComputedStyle(document.getElementById("companion-widget").shadowRoot.querySelector("button")).${property}`,
  );

/** Calls window.CompanionWidget as a page does. */
const call = (page: Page, name: string, ...values: unknown[]): Promise<unknown> =>
  page.evaluate(`void CompanionWidget.${name}(...${JSON.stringify(values)})`);
const there = (page: Page) => page.waitForFunction("window.CompanionWidget");

describe("the widget on a page of another origin", () => {
  test.each(["head", "body"] as const)(
    "adds a button that opens the assistant, if the script is in the %s",
    async (place) => {
      const attributes = {
        "assistant-id": await site.assistant({ chat: { initialMessage: "Hello there." } }),
      };
      const { page, launcher, frame, complaints, hosts } = await site.visit({
        attributes,
        place,
        before: COUNTING,
      });
      expect(await loaded(page)).toEqual(["document", "window"]);
      await expect(frame.getByText("Hello there.").isVisible()).resolves.toBe(false);
      await launcher.click();
      await frame.getByText("Hello there.").waitFor();
      expect(await page.getByRole("dialog", { name: "Ada" }).isVisible()).toBe(true);
      await frame.getByRole("button", { name: "Close chat" }).click();
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      expect(complaints).toEqual([]);
      expect([...hosts].sort()).toEqual([new URL(site.url).host, new URL(app.url).host].sort());
    },
  );

  test("embeds the assistant in an element that is added later, with a custom id", async () => {
    const assistantId = await site.assistant({ chat: { initialMessage: "Hello there." } });
    const attributes = { "assistant-id": assistantId, appearance: "iframe", "container-id": "chat" };
    const { page, frame, launcher } = await site.visit({ attributes, place: "head" });
    await there(page);
    await page.evaluate(`document.body.append(Object.assign(document.createElement("div"), { id: "chat" }))`);
    await frame.getByText("Hello there.").waitFor();
    expect(await page.locator("#chat > iframe").getAttribute("title")).toBe("Ada");
    expect(await launcher.count()).toBe(0);
  });

  test("supports both appearances on one page, and ignores a script that is loaded twice", async () => {
    const attributes = { "assistant-id": await site.assistant({ chat: { initialMessage: "Hello there." } }) };
    const again = site.script(attributes);
    const embedded = site.script({ ...attributes, appearance: "iframe" });
    const html = CONTAINER + again + embedded;
    const { page, launcher, complaints } = await site.visit({ attributes, html });
    await launcher.waitFor();
    await page.frameLocator("#companion-container iframe").getByText("Hello there.").waitFor();
    expect(await page.locator("iframe").count()).toBe(2);
    expect(complaints).toEqual([]);
  });

  test("shows the assistant of a deployment", async () => {
    const assistantId = await site.assistant({ chat: { initialMessage: "Deployed." } });
    const create = `mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }`;
    const { createProject } = await app.api.gql(`mutation { createProject(input: { name: "Shop" }) { id } }`);
    const input = { projectId: createProject.id, type: "TEXT_BUBBLE", assistantId };
    const { createDeployment } = await app.api.gql(create, { input });
    const { launcher, frame } = await site.visit({ attributes: { "deployment-id": createDeployment.id } });
    await launcher.click();
    await frame.getByText("Deployed.").waitFor();
  });

  test("works under a content security policy that allows only its origin and no inline styles", async () => {
    const attributes = { "assistant-id": await site.assistant({ theme: { primaryColor: "#0f766e" } }) };
    const policy = `default-src 'none'; script-src ${app.url}; frame-src ${app.url}; style-src 'none'; require-trusted-types-for 'script'`;
    const headers = { "Content-Security-Policy": policy };
    const { page, open, complaints } = await site.visit({ attributes, headers });
    await open();
    expect(await cssOf(page, "position")).toBe("fixed");
    expect(await cssOf(page, "backgroundColor")).toBe("rgb(15, 118, 110)");
    expect(complaints).toEqual([]);
  });

  test("uses the position of the page or the theme, and the theme's texts", async () => {
    const theme = { position: "left", launcherText: "Ask Bea", title: "Bea" };
    const attributes = { "assistant-id": await site.assistant({ theme }) };
    const { launcher, page } = await site.visit({ attributes });
    await launcher.waitFor();
    expect(await launcher.innerText()).toBe("Ask Bea");
    expect((await launcher.boundingBox())!.x).toBeLessThan(100);
    const other = await site.visit({ attributes: { ...attributes, position: "right" } });
    await other.launcher.waitFor();
    expect((await other.launcher.boundingBox())!.x).toBeGreaterThan(page.viewportSize()!.width / 2);
  });

  test.each(["left", "right"])("cuts a long text of the launcher on the %s of a phone", async (position) => {
    const theme = { position, launcherText: "Ask Beatrice about appointments" };
    const width = 260;
    const { launcher } = await site.visit({
      attributes: { "assistant-id": await site.assistant({ theme }) },
      context: { viewport: { width, height: 640 } },
    });
    await launcher.waitFor();
    const box = (await launcher.boundingBox())!;
    expect([box.x, width - box.x - box.width]).toEqual([20, 20]);
    expect(await launcher.locator(".text").evaluate((text) => text.scrollWidth > text.clientWidth)).toBe(
      true,
    );
    expect(await launcher.getAttribute("aria-label")).toBe("Ask Beatrice about appointments");
  });

  test("covers the whole screen on a phone", async () => {
    const attributes = { "assistant-id": await site.assistant() };
    const viewport = { width: 390, height: 780 };
    const { open, page } = await site.visit({
      attributes,
      context: { viewport, isMobile: true },
    });
    await open();
    expect(await page.getByRole("dialog").boundingBox()).toEqual({ x: 0, y: 0, ...viewport });
  });
});

describe("window.CompanionWidget", () => {
  const visit = async (before?: string, more: Record<string, string> = {}) => {
    const assistantId = await site.assistant({
      ...more,
      variables: { shop: "Acme" },
      chat: { ...GREETS, prompt: "You talk with {user_name} about {product}." },
    });
    const attributes = { "assistant-id": assistantId, appearance: "iframe" };
    return site.visit({ attributes, html: CONTAINER, before });
  };

  test("initializeAssistant fills the greeting before the frame is ready, in the event, and later", async () => {
    const { page, frame } = await visit();
    await call(page, "initializeAssistant", { user_name: "Zoe" });
    await frame.getByText("Hello Zoe, this is Acme.").waitFor();
    await call(page, "initializeAssistant", { user_name: "Tom", shop: "Acme & Sons" });
    await frame.getByText("Hello Tom, this is Acme & Sons.").waitFor();
    await call(page, "initializeAssistant", {});
    await frame.getByText("Hello {user_name}, this is Acme.").waitFor();

    const inEvent = `addEventListener("companion-iframe-loaded", () => CompanionWidget.initializeAssistant({ user_name: "Eve" }))`;
    const early = await visit(inEvent);
    await early.frame.getByText("Hello Eve, this is Acme.").waitFor();
  });

  test("initializeAssistant supplies the values that an assistant insists on, and the console names missing ones", async () => {
    const { page, frame, complaints } = await visit(undefined, { missingVariables: "REFUSE" });
    await frame.locator("textarea").waitFor();
    expect(await frame.locator(".message").count()).toBe(0);
    expect(complaints).toEqual([]);
    await call(page, "initializeAssistant", { product: "tea" });
    await until(() => complaints.length > 0);
    expect(complaints.join()).toContain(
      "MISSING_VARIABLES: Variables without a value: {user_name} in initialMessage.",
    );
    await call(page, "initializeAssistant", { user_name: "Zoe", product: "tea" });
    await frame.getByText("Hello Zoe, this is Acme.").waitFor();

    const wrong = `addEventListener("DOMContentLoaded", () => CompanionWidget.initializeAssistant({ product: "tea" }))`;
    const early = await visit(wrong, { missingVariables: "REFUSE" });
    await until(() => early.complaints.some((one) => one.includes("MISSING_VARIABLES")));
    await call(early.page, "initializeAssistant", { user_name: "Eve", product: "tea" });
    await early.frame.getByText("Hello Eve, this is Acme.").waitFor();
  });

  test("initializeAssistant keeps the values of the call before if an argument is no object", async () => {
    const { page, frame, complaints } = await visit();
    await call(page, "initializeAssistant", { user_name: "Åsa" });
    await call(page, "initializeAssistant", "oops");
    await call(page, "initializeAssistant", { user_name: "Eve" }, ["oops"]);
    await frame.getByText("Hello Åsa, this is Acme.").waitFor();
    expect(complaints).toEqual(
      ["variables", "metadata"].map(
        (name) =>
          `[CompanionWidget] initializeAssistant expects ${name} to be an object. This call changes nothing.`,
      ),
    );
  });

  test("initializeAssistant passes variables to the prompt and metadata to the log; later values apply to the next answer", async () => {
    const model = await site.model({ text: ["Sure."] });
    const { page, say, hears, frame } = await visit();
    await call(page, "initializeAssistant", { user_name: "Zoe", product: "tea" }, { plan: "gold" });
    await say("Hi");
    await hears("Sure.");
    expect(model.asked[0]!.messages[0]!.content).toContain("You talk with Zoe about tea.");
    await call(page, "initializeAssistant", { user_name: "Zoe", product: "coffee" }, { plan: "silver" });
    await say("And now?");
    await frame.locator(".theirs.stored").nth(2).waitFor();
    expect(model.asked[1]!.messages[0]!.content).toContain("You talk with Zoe about coffee.");
    const address = await page.locator("iframe").getAttribute("src");
    const assistantId = new URL(address!).searchParams.get("assistantId")!;
    const logs = `/rest/v1/assistants/${assistantId}/logs`;
    const [{ id }] = await app.api.get(logs, 200);
    expect(
      (await app.api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 200)).customerMetadata,
    ).toMatchObject({ plan: "silver" });
  });

  test("opens, closes, emits events and removes itself completely", async () => {
    await site.model({ text: ["Sure."] });
    const attributes = { "assistant-id": await site.assistant() };
    const { page, launcher, box, say, hears, complaints } = await site.visit({ attributes });
    await launcher.waitFor();
    await page.evaluate(`
      window.told = [];
      for (const event of ["open", "close", "message"])
        CompanionWidget.on(event, (detail) => told.push([event, detail]));
      CompanionWidget.on("open", () => told.push("heard once too often"))();`);
    await call(page, "open");
    await box.waitFor();
    await say("Hi");
    await hears("Sure.");
    await call(page, "close");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.waitForFunction(`told.at(-1)[0] === "close"`);
    expect(await page.evaluate("told")).toEqual([
      ["open", {}],
      ["message", { role: "USER", content: "Hi" }],
      ["message", { role: "ASSISTANT", content: "Sure." }],
      ["close", {}],
    ]);
    await call(page, "destroy");
    expect(await page.locator("iframe, #companion-widget").count()).toBe(0);
    for (const name of ["open", "close", "destroy", "initializeAssistant"]) await call(page, name);
    expect(complaints).toEqual([]);
  });

  test("shows the number of unread answers on the button", async () => {
    let release = () => undefined as void;
    await site.model({ text: ["At", " last."], held: new Promise<void>((resolve) => (release = resolve)) });
    const { page, launcher, open, say } = await site.visit({
      attributes: { "assistant-id": await site.assistant() },
    });
    await open();
    await say("Hi");
    await call(page, "close");
    release();
    await page.getByRole("button", { name: "Open chat, unread messages: 1" }).waitFor();
    await launcher.click();
    await page.getByRole("button", { name: "Close chat" }).waitFor();
    expect(await launcher.innerText()).toBe("");
  });

  test("never throws, whatever the arguments", async () => {
    const { page, complaints, frame } = await visit();
    await frame.getByRole("textbox").waitFor();
    await page.evaluate(`
      const circle = {};
      circle.circle = circle;
      for (const value of ["text", 5, [], circle, null, () => 1]) CompanionWidget.initializeAssistant(value);
      CompanionWidget.on("nothing", () => 1);
      CompanionWidget.on("open", "no function");
      CompanionWidget.open();`);
    expect(complaints.filter((line) => !line.startsWith("[CompanionWidget] "))).toEqual([]);
    expect(complaints.length).toBeGreaterThan(4);
  });
});

describe("invalid settings of a page", () => {
  const CALM = "This assistant isn’t available right now.";

  test.each([
    ["an unknown assistant", { "assistant-id": UNKNOWN_ID }, "ASSISTANT_NOT_FOUND"],
    ["an unknown deployment", { "deployment-id": UNKNOWN_ID }, "DEPLOYMENT_NOT_FOUND"],
    ["a wrong key", { "assistant-id": UNKNOWN_ID, "public-key": "parley_pk_wrong" }, "UNAUTHENTICATED"],
  ])(
    "%s: the visitor sees a short message, and the console shows the code",
    async (_what, attributes, code) => {
      const { launcher, frame, complaints } = await site.visit({ attributes });
      await launcher.click();
      await frame.getByText(CALM).waitFor();
      const lines = complaints.filter((line) => line.startsWith("[CompanionWidget] "));
      expect(lines).toEqual([expect.stringContaining(code)]);
      expect(lines[0]).toContain(UNKNOWN_ID);
    },
  );

  test("an assistant with all channels disabled: the visitor sees the same message, and the console shows the code", async () => {
    const assistantId = await site.assistant({ chat: { chatMode: false } as never });
    const update = `mutation ($id: ID!) { updateThemeConfiguration(assistantId: $id, input: { mode: CHAT_ONLY }) { mode } }`;
    await app.api.gql(update, { id: assistantId });
    const { launcher, frame, complaints } = await site.visit({ attributes: { "assistant-id": assistantId } });
    await launcher.click();
    await frame.getByText(CALM).waitFor();
    expect(complaints).toEqual([expect.stringContaining("CHANNEL_DISABLED")]);
  });

  test.each([
    [{}, "data-assistant-id and data-deployment-id"],
    [{ "assistant-id": UNKNOWN_ID, "deployment-id": UNKNOWN_ID }, "Set only one of"],
    [{ "assistant-id": UNKNOWN_ID, "public-key": "" }, "data-public-key is missing"],
    [{ "assistant-id": UNKNOWN_ID, appearance: "iframe" }, `No element with id "companion-container"`],
    [
      { "assistant-id": UNKNOWN_ID, appearance: "popup" },
      `data-appearance="popup" is ignored: it must be one of bubble, iframe`,
    ],
  ])("invalid attributes %j are reported on the console", async (attributes, words) => {
    const { page, complaints } = await site.visit({ attributes });
    await there(page);
    await call(page, "initializeAssistant", {});
    expect(complaints.some((line) => line.includes(words))).toBe(true);
  });

  test("a unique id of 30 characters is reported and ignored; one of 29 is used", async () => {
    await site.model({ text: ["Sure."] });
    const assistantId = await site.assistant();
    const talk = async (uniqueId: string) => {
      const attributes = { "assistant-id": assistantId, "unique-id": uniqueId };
      const { open, say, hears, complaints } = await site.visit({ attributes });
      await open();
      await say("Hi");
      await hears("Sure.");
      return complaints;
    };
    expect(await talk("x".repeat(30))).toEqual([expect.stringContaining("must have fewer than 30")]);
    expect(await talk("y".repeat(29))).toEqual([]);
    const find = `query ($id: String!) { endUser(uniqueId: $id) { id } }`;
    expect((await app.api.gql(find, { id: "x".repeat(30) })).endUser).toBeNull();
    expect((await app.api.gql(find, { id: "y".repeat(29) })).endUser).not.toBeNull();
  });
});
