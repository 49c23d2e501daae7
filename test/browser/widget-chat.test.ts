import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { Receiver } from "../support/receiver";
import { untilIn, WidgetSite, type WidgetPage } from "../support/widget-page";
import { until } from "../support/until";

const app = useApp({ WORKER: "on" });
const site = new WidgetSite(app);
beforeAll(() => site.start());
afterEach(() => site.clear());
afterAll(() => site.stop());

const attributesOf = async (...parts: Parameters<WidgetSite["assistant"]>) => ({
  "assistant-id": await site.assistant(...parts),
});
const said = async ({ frame }: WidgetPage) =>
  (await frame.locator(".message").allInnerTexts()).map((line) => line.replace(/\s+/g, " ").trim());
/** A promise, and the function that resolves it. */
function gate() {
  let open!: () => void;
  return { passed: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
}
const AT_LAST = { text: ["Answered."] };

describe("a conversation in the widget", () => {
  test("shows the input as soon as the bubble is opened for the first time", async () => {
    const widget = await site.visit({ attributes: await attributesOf() });
    await widget.frame.locator("textarea").waitFor({ state: "attached" });
    await widget.open();
    const field = `document.querySelector("textarea")`;
    await untilIn(
      widget.inside(),
      `${field}.clientHeight >= parseFloat(getComputedStyle(${field}).lineHeight)`,
    );
  });

  test("shows an answer while it is being written, and announces it to screen readers once it is complete", async () => {
    const rest = gate();
    await site.model({ text: ["We are **open** ", "from 9 to 5."], held: rest.passed });
    const widget = await site.visit({ attributes: await attributesOf() });
    await widget.open();
    await widget.say("When are you open?");
    const written = widget.frame.locator(".message[inert]");
    await written.getByText("open", { exact: true }).waitFor();
    expect(await written.locator("strong").innerText()).toBe("open");
    expect(await widget.frame.getByRole("status").first().innerText()).toBe("Writing…");
    rest.open();
    await widget.hears("We are open from 9 to 5.");
    expect(await written.count()).toBe(0);
    expect(await said(widget)).toEqual([
      "Ada: Hello! How can I help you today?",
      "You: When are you open?",
      "Ada: We are open from 9 to 5.",
    ]);
  });

  test("shows which function the assistant is using", async () => {
    const done = gate();
    const receiver = await new Receiver(
      (response) => void done.passed.then(() => response.end('"sunny"')),
    ).start();
    try {
      await site.model({ call: "find_weather", arguments: "{}" }, { text: ["It is sunny."] });
      const functions = [{ name: "find_weather", parameters: { type: "object" }, serverUrl: receiver.url }];
      const widget = await site.visit({ attributes: await attributesOf({ chat: { functions } }) });
      await widget.open();
      await widget.say("How is it outside?");
      await widget.frame.locator(".dots", { hasText: "Using find_weather…" }).waitFor();
      done.open();
      await widget.hears("It is sunny.");
    } finally {
      await receiver.stop();
    }
  });

  test("sends a quick reply on click", async () => {
    await site.model(
      { text: ["We are open."] },
      { text: [`["Book a table", "Thanks"]`] },
      { text: ["Booked."] },
    );
    const widget = await site.visit({
      attributes: await attributesOf({ chat: { quickRepliesEnabled: true } as never }),
    });
    await widget.open();
    await widget.say("Are you open?");
    await widget.frame.getByRole("group", { name: "Suggested replies" }).getByText("Book a table").click();
    await widget.hears("Booked.");
    expect(await said(widget)).toContain("You: Book a table");
  });

  test("reports a failed answer and offers to retry", async () => {
    await site.model({ status: 500 });
    const widget = await site.visit({ attributes: await attributesOf() });
    await widget.open();
    await widget.say("Are you open?");
    const again = widget.frame.locator(".failed").getByRole("button", { name: "Try again" });
    await again.waitFor();
    await site.model(AT_LAST);
    await again.click();
    await widget.hears("Answered.");
  });

  test("resumes the same chat after a reload", async () => {
    const model = await site.model(AT_LAST);
    const widget = await site.visit({ attributes: await attributesOf() });
    await widget.open();
    await widget.say("One");
    await widget.hears("Answered.");
    const before = await said(widget);
    await widget.page.reload();
    await widget.open();
    await widget.hears("Answered.");
    expect(await said(widget)).toEqual(before);
    await widget.say("Two");
    await widget.frame.locator(".theirs.stored").nth(2).waitFor();
    expect(model.asked.at(-1)!.messages.filter(({ role }) => role === "user")).toHaveLength(2);
  });

  test("keeps what is typed over a reload, and shows it to no other person in the tab", async () => {
    const attributes = { ...(await attributesOf()), "unique-id": "ada" };
    const { page, box, open, frame } = await site.visit({ attributes });
    const [adas, bobs] = [
      page.url(),
      site.put("/bobs", { attributes: { ...attributes, "unique-id": "bob" } }),
    ];
    const typedAt = async (url: string) => {
      await page.goto(url);
      await open();
      return box.inputValue();
    };
    const heightOf = async () => (await box.boundingBox())!.height;
    await open();
    const words = "My order is late\nand the box is open";
    await box.fill(words);
    const height = await heightOf();
    expect(await typedAt(adas)).toBe(words);
    expect(await heightOf()).toBe(height);
    expect(await typedAt(bobs)).toBe("");
    expect(await typedAt(adas)).toBe(words);
    await site.model(AT_LAST);
    await box.press("Enter");
    await frame.locator(".own.stored").waitFor();
    expect(await typedAt(adas)).toBe("");
  });

  test("continues after a reload although the assistant meanwhile insists on values that the page does not set", async () => {
    await site.model(AT_LAST, { text: ["Still here."] });
    const attributes = await attributesOf({ missingVariables: "REFUSE" });
    const widget = await site.visit({
      attributes,
      html: `<script>addEventListener("companion-iframe-loaded", () => CompanionWidget.initializeAssistant({ cart: "7" }))</script>`,
    });
    await widget.open();
    await widget.say("One");
    await widget.hears("Answered.");
    const path = `/rest/v1/assistants/${attributes["assistant-id"]}`;
    await app.api.patch(`${path}/chat`, { initialMessage: "Welcome, {name}." }, 200);
    await widget.page.reload();
    await widget.open();
    await widget.hears("Answered.");
    await widget.say("Two");
    await widget.hears("Still here.");
    expect(await app.api.get(`${path}/logs`, 200)).toHaveLength(1);
    expect(widget.complaints.join()).toContain("MISSING_VARIABLES: Variables without a value: {name}");
  });

  test("starts a new chat on request and lists earlier ones", async () => {
    await site.model(AT_LAST);
    const widget = await site.visit({ attributes: await attributesOf() });
    const { frame } = widget;
    await widget.open();
    expect(await frame.getByRole("button", { name: "Earlier conversations" }).count()).toBe(0);
    await widget.say("The first one");
    await widget.hears("Answered.");
    await frame.getByRole("button", { name: "New conversation" }).click();
    await frame.getByText("The first one").waitFor({ state: "detached" });
    await widget.say("The second one");
    await widget.hears("Answered.");
    await frame.getByRole("button", { name: "Earlier conversations" }).click();
    const entries = frame.getByRole("listitem");
    await entries.nth(1).waitFor();
    expect((await entries.allInnerTexts()).map((text) => text.split("\n")[0])).toEqual([
      "The second one",
      "The first one",
    ]);
    await entries.nth(1).getByRole("button").click();
    await frame.getByText("This conversation has ended.").waitFor();
    expect(await said(widget)).toContain("You: The first one");
    await frame.getByRole("main").getByRole("button", { name: "New conversation" }).click();
    await widget.box.waitFor();
  });

  test("recognizes a returning visitor in the same browser", async () => {
    const model = await site.model(AT_LAST);
    const attributes = { ...(await attributesOf()), "unique-id": "customer-7" };
    const context = await site.context();
    const first = await site.visit({ attributes, context });
    await first.open();
    await first.say("My dog is called Rex.");
    await first.hears("Answered.");
    await first.frame.getByRole("button", { name: "New conversation" }).click();
    await first.frame.getByText("Rex").waitFor({ state: "detached" });
    await first.page.close();
    const second = await site.visit({ attributes, context });
    await second.open();
    expect(await second.frame.getByText("Rex").count()).toBe(0);
    await second.say("Do you know me?");
    await second.hears("Answered.");
    expect(model.asked.at(-1)!.messages[0]!.content).toContain("My dog is called Rex.");
    await second.frame.getByRole("button", { name: "Earlier conversations" }).click();
    await second.frame.getByRole("listitem").getByText("My dog is called Rex.").waitFor();
  });

  test("works if the browser denies storage", async () => {
    await site.model(AT_LAST);
    const before = `for (const name of ["localStorage", "sessionStorage"])
      Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });`;
    const widget = await site.visit({ attributes: await attributesOf(), before });
    await widget.open();
    await widget.say("Hi");
    await widget.hears("Answered.");
    expect(widget.complaints).toEqual([]);
  });

  test("applies a changed theme when the visitor returns to the tab", async () => {
    const attributes = await attributesOf({ theme: { title: "Before" } });
    const widget = await site.visit({
      attributes,
      before:
        "const now = Date.now; let ahead = 0; Date.now = () => now() + ahead; window.later = () => (ahead += 60000);",
    });
    await widget.open();
    await widget.frame.getByRole("heading", { name: "Before" }).waitFor();
    const theme = { title: "After", primaryColor: "#ff0000" };
    await app.api.patch(`/rest/v1/assistants/${attributes["assistant-id"]}/theme`, { theme }, 200);
    await widget.inside().evaluate("later()");
    await widget.launcher.click();
    await widget.launcher.click();
    await widget.frame.getByRole("heading", { name: "After" }).waitFor();
    await widget.page.getByRole("dialog", { name: "After" }).waitFor();
  });
});

const LIMITED = { message: "Too many requests.", extensions: { code: "RATE_LIMITED" } };

test("a message over the rate limit waits, and a line says for how long", async () => {
  await site.model(AT_LAST);
  const widget = await site.visit({ attributes: await attributesOf() });
  const { page, frame } = widget;
  await widget.open();
  const refusal = { status: 429, headers: { "Retry-After": "3" }, json: { errors: [LIMITED] } };
  await page
    .context()
    .route("**/graphql", (route) =>
      route.request().postData()?.includes("postWidgetMessage") ? route.fulfill(refusal) : route.continue(),
    );
  await widget.say("One");
  await frame.getByText("Please wait a moment. (3 s)").waitFor();
  await frame.locator(".pending", { hasText: "One" }).waitFor();
  await page.context().unroute("**/graphql");
  await frame.getByText("Answered.").waitFor();
  await frame.getByText("Please wait a moment.").waitFor({ state: "detached" });
});

describe("if the network drops", () => {
  test("unsent messages are saved and sent after it returns, even after a reload", async () => {
    const model = await site.model(AT_LAST);
    const widget = await site.visit({ attributes: await attributesOf() });
    const { page, frame } = widget;
    await widget.open();
    await widget.say("One");
    await widget.hears("Answered.");
    await page.context().setOffline(true);
    await widget.say("Two");
    await frame.getByText("No connection.").waitFor();
    await frame.locator(".pending", { hasText: "Two" }).waitFor();
    await page.context().setOffline(false);
    await frame.locator(".theirs.stored").nth(2).waitFor();
    await frame.getByText("No connection.").waitFor({ state: "detached" });
    expect(await frame.locator(".pending").count()).toBe(0);

    await page
      .context()
      .route("**/graphql", (route) =>
        route.request().postData()?.includes("postWidgetMessage") ? route.abort() : route.continue(),
      );
    await widget.say("Three");
    await frame.locator(".pending", { hasText: "Three" }).waitFor();
    await frame.getByText("No connection.").waitFor();
    await page.context().unroute("**/graphql");
    await page.reload();
    await widget.open();
    await frame.locator(".theirs.stored").nth(3).waitFor();
    const words = model.asked.at(-1)!.messages.filter(({ role }) => role === "user");
    expect(words.map(({ content }) => content)).toEqual(["One", "Two", "Three"]);
  });

  test("a refused message stays visible, and does not hold up the next one", async () => {
    const model = await site.model(AT_LAST);
    const widget = await site.visit({ attributes: await attributesOf() });
    const refuse = { errors: [{ message: "No.", extensions: { code: "BAD_USER_INPUT" } }] };
    let refused = 0;
    await widget.page
      .context()
      .route("**/graphql", (route) =>
        refused === 0 && route.request().postData()?.includes("postWidgetMessage")
          ? route.fulfill({ json: (refused++, refuse) })
          : route.continue(),
      );
    await widget.open();
    await widget.say("One");
    await until(() => refused === 1);
    await widget.say("Two");
    await widget.hears("Answered.");
    expect(model.asked.at(-1)!.messages.filter(({ role }) => role === "user")).toMatchObject([
      { content: "Two" },
    ]);
    await widget.frame.getByText("One").waitFor();
  });

  test("a message whose confirmation was lost is sent again and stored once", async () => {
    const model = await site.model(AT_LAST);
    const widget = await site.visit({ attributes: await attributesOf() });
    let lost = 0;
    await widget.page.context().route("**/graphql", async (route) => {
      if (lost > 0 || !route.request().postData()?.includes("postWidgetMessage")) return route.continue();
      lost++;
      await route.fetch();
      await route.abort();
    });
    await widget.open();
    await widget.say("Just once");
    await widget.hears("Answered.");
    await widget.frame.locator(".own.stored", { hasText: "Just once" }).waitFor();
    await widget.frame.locator(".pending").waitFor({ state: "detached" });
    expect(lost).toBe(1);
    expect((await said(widget)).filter((line) => line.includes("Just once"))).toHaveLength(1);
    expect(model.asked).toHaveLength(1);
  });

  test("answers arrive by polling if WebSockets are blocked", async () => {
    await site.model(AT_LAST);
    const context = await site.context();
    await context.routeWebSocket(/graphql/, (socket) => socket.close({ code: 1011 }));
    const widget = await site.visit({ attributes: await attributesOf(), context });
    await widget.open();
    await widget.say("Hi");
    await widget.hears("Answered.");
  });

  test("a message to a chat that has ended meanwhile starts a new chat", async () => {
    await site.model(AT_LAST);
    const attributes = await attributesOf();
    const widget = await site.visit({ attributes });
    await widget.open();
    await widget.say("One");
    await widget.hears("Answered.");
    const [{ id }] = await app.api.get(`/rest/v1/assistants/${attributes["assistant-id"]}/logs`, 200);
    await widget.box.fill("Two");
    await app.api.gql(`mutation ($id: ID!) { endChat(id: $id) { id } }`, { id });
    await widget.frame.getByText("This conversation has ended.").waitFor();
    await widget.frame.getByRole("main").getByRole("button", { name: "New conversation" }).click();
    await widget.say("Two");
    await widget.hears("Answered.");
    expect(await app.api.get(`/rest/v1/assistants/${attributes["assistant-id"]}/logs`, 200)).toHaveLength(2);
  });

  test("a message to a chat that was deleted meanwhile, such as by retention, starts a new chat", async () => {
    await site.model(AT_LAST);
    const attributes = await attributesOf();
    const context = await site.context();
    const widget = await site.visit({ attributes, context });
    await widget.open();
    await widget.say("One");
    await widget.hears("Answered.");
    const logs = () => app.api.get(`/rest/v1/assistants/${attributes["assistant-id"]}/logs`, 200);
    const [{ id }] = await logs();
    await context.setOffline(true); // as a computer that sleeps
    await app.api.gql(`mutation ($id: ID!) { endChat(id: $id) { id } }`, { id });
    await app.database.query("delete from chats where id = $1", [id]);
    await context.setOffline(false);
    await widget.say("Two");
    await widget.hears("Answered.");
    await widget.frame.locator(".own.stored", { hasText: "Two" }).waitFor();
    expect(await widget.frame.locator(".own").count()).toBe(1);
    expect(await logs()).toHaveLength(1);
  });
});
