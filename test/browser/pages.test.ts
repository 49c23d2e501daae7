import type { Browser, Locator, Page } from "playwright-core";
import { explorerTabs } from "../../src/web/explorer/tabs";
import { useApp } from "../support/app";
import { launchBrowser, observe, type PageActivity } from "../support/browser";
import { rows } from "../support/suite";
import { until } from "../support/until";

const app = useApp();
let browser: Browser;
let page: Page;
let observed: PageActivity;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** Opens one page for all tests of the block, because these pages take seconds to load. */
function usePage(open: () => Promise<void>) {
  beforeAll(async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    page = await context.newPage();
    observed = observe(page, app.url);
    await open();
  });
  afterAll(() => page.context().close());
}

interface OpenApi {
  paths: Record<string, object>;
  /** Requests that the service sends. */
  webhooks: Record<string, object>;
}

const isMethod = (key: string) => ["get", "put", "post", "patch", "delete"].includes(key);
/** Monaco draws spaces as non-breaking ones, and each word in an element of its own. */
const expectText = (place: Locator, text: string) =>
  place.filter({ hasText: new RegExp(text.replaceAll(/[^\w ]/g, "\\$&").replaceAll(" ", "\\s+")) }).waitFor();

/** All values in a storage of the browser for this origin. */
const keptIn = (page: Page, storage: "localStorage" | "sessionStorage") =>
  page.evaluate<string>(`JSON.stringify(Object.entries(${storage}))`);

/** The page's hint of the key in use. */
const inUse = (key: string) => page.getByText(`Key …${key.slice(-4)}`, { exact: true });

/** The name of a tab's first operation. */
const nameOf = ({ query }: { query: string }) => /^(?:query|mutation|subscription) (\w+)/m.exec(query)![1]!;

const NOTHING = { elsewhere: [], errors: [], failed: [] };

async function graphql(query: string, variables: object): Promise<Record<string, { id: string }>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": app.secretKey },
    body: JSON.stringify({ query, variables }),
  });
  // The documents below select ids.
  const { data } = (await response.json()) as { data: Record<string, { id: string }> };
  return data;
}

async function createAssistant(name: string): Promise<string> {
  const document =
    "mutation ($input: CreateAssistantInput!) { result: createAssistant(input: $input) { id } }";
  const { result } = await graphql(document, { input: { name } });
  return result!.id;
}

describe("the explorer at /graphql", () => {
  const pane = (name: string) => page.getByRole("region", { name, exact: true });
  const response = () => page.locator(".graphiql-response");
  const tabs = () => page.getByRole("list", { name: "Select active operation" });
  const tab = (name: string) => tabs().getByRole("button", { name, exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const run = () => page.getByRole("button", { name: /^Execute query/ }).click();

  async function open() {
    await page.goto(`${app.url}/graphql`);
    await pane("Variables").locator(".view-lines:visible").waitFor();
  }

  async function enterKey(key: string) {
    await page.getByLabel("API key").fill(key);
    await press("Use key");
    await inUse(key).waitFor();
  }

  async function openWithKey(key: string) {
    await open();
    await enterKey(key);
  }

  describe("the field for the key", () => {
    usePage(open);

    const note = () => page.locator("parley-key").getByRole("status", { includeHidden: true });

    test.each([
      [`parley_pk_${"x".repeat(36)}`, "This is a PUBLIC key.", "This API key is unknown."],
      ["eyJhbGciOiJIUzI1NiJ9.eyJvcmciOiIxIn0.c2lnbmVk", "This is a token, not a key.", "looks like a token"],
      [`parley_sk_${"x".repeat(36)}`, "", "This API key is unknown."],
      ["parley_sk_short", "", "This API key is incomplete or mistyped"],
      ["schlüssel", "", "characters that no key has"],
    ])("says what %s is, and on its use why it is refused", async (value, words, refusal) => {
      const field = page.getByLabel("API key");
      await field.fill(value);
      expect(await note().textContent()).toMatch(words === "" ? /^$/ : words);
      await press("Use key");
      await expectText(note(), refusal);
      expect(await field.inputValue()).toBe(value);
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      expect(await keptIn(page, "sessionStorage")).not.toContain(value);
      await field.fill("");
      expect(await note().textContent()).toBe("");
      for (const list of Object.values(observed)) list.length = 0; // the browser logs refused requests
    });

    test("accepts a PUBLIC key with the advice to use another one, and a SECRET key without", async () => {
      const { value: publicKey } = await app.api.post("/rest/v1/organization/keys", { type: "PUBLIC" }, 200);
      for (const [value, words] of [
        [publicKey as string, "This is a PUBLIC key."],
        [app.secretKey, ""],
      ] as const) {
        await page.getByLabel("API key").fill(value);
        await press("Use key");
        await inUse(value).waitFor();
        expect(await note().textContent()).toMatch(words === "" ? /^$/ : words);
        await press("Clear key");
      }
    });

    test("says that a key of this tab is no longer accepted", async () => {
      await page.evaluate(`sessionStorage.setItem("parley:key", "parley_sk_${"x".repeat(36)}")`);
      await page.reload();
      await expectText(note(), "This API key is unknown.");
      await press("Clear key");
      for (const list of Object.values(observed)) list.length = 0;
    });
  });

  /** Waits for the editor's workers, which check with a delay: they underline an extra bracket, and nothing after its removal. */
  async function expectChecked(editor: Locator) {
    const underlined = editor.locator(".squiggly-error, .squiggly-warning");
    await editor.locator(".view-lines:visible").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("]");
    await underlined.first().waitFor();
    await page.keyboard.press("Backspace");
    await until(async () => (await underlined.count()) === 0);
  }

  async function showVariables(name: string) {
    await tab(name).click();
    await pane("Variables").locator(".view-lines:visible").waitFor();
  }

  async function fillIn(placeholder: string, id: string) {
    await pane("Variables").getByText(placeholder).first().dblclick();
    await page.keyboard.type(id);
  }

  describe("on opening", () => {
    usePage(open);

    test("makes no request to other hosts and writes nothing to the console", async () => {
      await page.waitForLoadState("networkidle");
      expect(await page.title()).toBe("Parley — GraphQL playground");
      expect(observed).toEqual(NOTHING);
    });

    test("shows its example tabs", async () => {
      expect(await tabs().getByRole("listitem").allInnerTexts()).toEqual(explorerTabs.map(nameOf));
    });

    // Each tab is also checked against the schema and run, without the editor.
    const checked = rows(explorerTabs.map(nameOf), 3);
    test(`reports no errors in its own tabs and their variables (${checked.title})`, async () => {
      for (const name of checked.rows) {
        await tab(name).click();
        for (const editor of ["Operation Editor", "Variables"]) await expectChecked(pane(editor));
      }
    });

    test("shows the schema's descriptions without a key", async () => {
      await press("Show Documentation Explorer");
      await page.locator(".graphiql-doc-explorer").getByText("Query", { exact: true }).click();
      await page.locator(".graphiql-doc-explorer").getByText("assistants", { exact: true }).click();
      const description = page.locator(".graphiql-doc-explorer .graphiql-markdown-description");
      expect((await description.first().innerText()).length).toBeGreaterThan(10);
      await press("Hide Documentation Explorer");
      expect(observed).toEqual(NOTHING);
    });

    test("refuses a query without a key, and runs it once a key is entered", async () => {
      const name = `Shown in the explorer ${Date.now()}`;
      await createAssistant(name);
      await tab("Assistants").click();
      // Until the playground has read the document, the button opens the menu of the tab before.
      await page.locator(".graphiql-execute-button:not([aria-haspopup])").waitFor();
      await run();
      await expectText(response(), "errors");
      await enterKey(app.secretKey);
      await run();
      await expectText(response(), name);
      expect(observed.elsewhere).toEqual([]);
    });
  });

  describe("with an unknown key", () => {
    usePage(async () => {
      await open();
      await page.evaluate(`sessionStorage.setItem("parley:key", "parley_sk_unknown")`);
      await page.reload();
      await pane("Variables").locator(".view-lines:visible").waitFor();
      await expectText(page.locator("parley-key"), "This API key is incomplete or mistyped");
      for (const list of Object.values(observed)) list.length = 0; // the browser logs refused requests
    });

    test("shows that a subscription is refused", async () => {
      await tab("WatchChat").click();
      await run();
      await expectText(response(), "This API key is incomplete or mistyped");
      await page.getByRole("button", { name: /^Execute query/ }).waitFor();
      expect(observed).toEqual(NOTHING);
    });
  });

  describe("with a valid key", () => {
    usePage(() => openWithKey(app.secretKey));

    test("uses the key in every tab and after a reload, and shows its last four characters", async () => {
      await page.reload();
      await inUse(app.secretKey).waitFor();
      await tab("Analytics").click();
      await run();
      await expectText(response(), "conversations");
      expect(observed).toEqual(NOTHING);
    });

    test("sends a key from the headers of a tab instead of the entered one, and stores it nowhere", async () => {
      await tab("Assistants").click();
      await press("Headers");
      await pane("Headers").locator(".view-lines:visible").click();
      await page.keyboard.type('{"x-api-key": "parley_sk_typed');
      await run();
      await expectText(response(), "UNAUTHENTICATED");
      for (const storage of ["localStorage", "sessionStorage"] as const)
        expect(await keptIn(page, storage)).not.toContain("parley_sk_typed");
      await page.reload();
      await inUse(app.secretKey).waitFor();
      for (const list of Object.values(observed)) list.length = 0; // the request was refused
    });

    test("stores the key for its own browser tab only, until a button clears it", async () => {
      expect(await keptIn(page, "sessionStorage")).toContain(app.secretKey);
      expect(await keptIn(page, "localStorage")).not.toContain(app.secretKey);
      const other = await page.context().newPage();
      await other.goto(`${app.url}/widget/demo`);
      expect(await keptIn(other, "sessionStorage")).not.toContain(app.secretKey);
      await other.close();
      await press("Clear key");
      await page.getByLabel("API key").waitFor();
      expect(await keptIn(page, "sessionStorage")).not.toContain(app.secretKey);
      await enterKey(app.secretKey); // the state that later tests expect
    });

    test("removes a key that an earlier version stored in localStorage", async () => {
      await page.evaluate(`localStorage.setItem("parley-explorer:headers", "parley_sk_former")`);
      await page.reload();
      await inUse(app.secretKey).waitFor();
      expect(await keptIn(page, "localStorage")).not.toContain("parley_sk_former");
    });

    test("prefills variables except for ids", async () => {
      const id = await createAssistant("Configured in the explorer");
      await showVariables("ConfigureChat");
      await fillIn("ASSISTANT_ID", id);
      await run();
      await expectText(response(), "quickRepliesEnabled");
      expect(observed).toEqual(NOTHING);
    });

    test("runs only the selected operation of a tab with several", async () => {
      await tab("Organization").click();
      const chosen = page.getByRole("menuitem", { name: "Organization", exact: true });
      // The explorer knows the operation names shortly after it shows the text; until then it runs the first one.
      for (let tries = 0; tries < 10 && !(await chosen.isVisible()); tries++) {
        await run();
        await chosen.waitFor({ timeout: 2_000 }).catch(() => undefined);
      }
      for (const list of Object.values(observed)) list.length = 0; // the runs so far had no operation name
      await chosen.click();
      await expectText(response(), "Default organization");
      expect(observed).toEqual(NOTHING);
    });

    test("authenticates the WebSocket of a subscription with the key, and lists its events, the latest first", async () => {
      const assistantId = await createAssistant("Watched in the explorer");
      const start = "mutation ($input: StartChatInput!) { chat: startChat(input: $input) { id } }";
      const { chat } = await graphql(start, { input: { assistantId, channel: "TEXT" } });
      const post = "mutation ($input: PostMessageInput!) { message: postMessage(input: $input) { id } }";
      const message = { aiChatId: chat!.id, role: "ASSISTANT", channel: "TEXT", metadata: {} };
      await graphql(post, { input: { ...message, content: "Said before" } });
      await showVariables("WatchChat");
      await fillIn("CHAT_ID", chat!.id);
      // Registered first, because the frame may be sent before run() returns.
      const subscribed = new Promise<void>((resolve) => {
        page.on("websocket", (socket) =>
          socket.on("framesent", ({ payload }) => void (payload.includes(`"type":"subscribe"`) && resolve())),
        );
      });
      await run();
      await subscribed;
      await expectText(response(), "Said before");
      await graphql(post, { input: { ...message, content: "Seen while it happens" } });
      await expectText(response(), "Seen while it happens");
      const shown = (await response().innerText()).replaceAll("\u00a0", " ");
      expect(shown.indexOf("Said before")).toBeGreaterThan(shown.indexOf("Seen while"));
      expect(observed).toEqual(NOTHING);
    });
  });
});

describe("the REST documentation at /rest/docs", () => {
  usePage(async () => {
    await page.goto(`${app.url}/rest/docs`);
    await page.locator(".opblock").first().waitFor();
  });

  test("shows the operations without requests to other hosts or console messages", async () => {
    await page.waitForLoadState("networkidle");
    const document = (await (await fetch(`${app.url}/rest/openapi.json`)).json()) as OpenApi;
    const operations = [document.paths, document.webhooks]
      .flatMap((paths) => Object.values(paths))
      .flatMap((path) => Object.keys(path).filter(isMethod));
    expect(await page.locator(".opblock").count()).toBe(operations.length);
    expect(observed).toEqual(NOTHING);
  });

  const listed = async () => {
    await page.locator("#operations-Assistants-listAssistants .opblock-summary-control").click();
    await page.locator("#operations-Assistants-listAssistants .execute").click();
    await page.locator(".live-responses-table .response-col_status").getByText("200").waitFor();
  };
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

  test("shows the whole placeholder of the filter on a phone", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    const filter = page.locator(".operation-filter-input");
    expect((await filter.boundingBox())!.width).toBe(320);
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  test("explains the first steps and the error codes", async () => {
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    await page.getByText("Error codes, with cause and remedy").click();
    await page.getByRole("cell", { name: "ASSISTANT_NOT_FOUND" }).waitFor();
  });

  test("opens the operation that a link of the first steps names, and scrolls to it", async () => {
    await page.getByRole("link", { name: "Create an assistant" }).click();
    const operation = page.locator("#operations-Assistants-createAssistant");
    await operation.locator(".execute").waitFor();
    expect(page.url()).toBe(`${app.url}/rest/docs#/Assistants/createAssistant`);
    const top = async () => Math.abs((await operation.boundingBox())!.y);
    await until(async () => (await top()) < 300);
    await page.goto(`${app.url}/rest/docs`);
    await page.locator(".opblock").first().waitFor();
  });

  test("runs an operation with the key entered under Authorize, which survives a reload", async () => {
    await page.locator(".auth-wrapper .authorize").click();
    const schemes = await page.locator(".modal-ux .auth-container h4 code").allTextContents();
    expect(schemes).toEqual(["apiKey", "bearer", "publicKey", "publicToken"]);
    await page.locator(".modal-ux .auth-container").first().locator("input:focus").waitFor();
    // The cursor starts in the field of the key.
    await page.keyboard.type(app.secretKey);
    await page.locator(".modal-ux .authorize").first().click();
    await page.reload();
    await listed();
    await inUse(app.secretKey).waitFor();
    expect(observed).toEqual(NOTHING);
    expect(await keptIn(page, "sessionStorage")).toContain(app.secretKey);
    expect(await keptIn(page, "localStorage")).not.toContain(app.secretKey);
  });

  test("shares its key with the playground, which clears it in every tab", async () => {
    const [other] = await Promise.all([
      page.context().waitForEvent("page"),
      page.evaluate("window.open('/rest/docs')"),
    ]);
    await other.getByText(`Key …${app.secretKey.slice(-4)}`).waitFor(); // opened by this tab, it got a copy
    await page.getByRole("link", { name: "GraphQL playground" }).first().click();
    await inUse(app.secretKey).waitFor();
    await press("Clear key");
    await other.getByLabel("API key").waitFor();
    expect(await keptIn(other, "sessionStorage")).not.toContain(app.secretKey);
    await other.close();
    await page.getByLabel("API key").fill(app.secretKey);
    await press("Use key");
    await page.getByRole("link", { name: "REST API" }).click();
    await page.locator(".opblock").first().waitFor();
    await listed();
    await press("Clear key");
    expect(await keptIn(page, "sessionStorage")).not.toContain(app.secretKey);
    await page.locator(".auth-wrapper .authorize.unlocked").waitFor();
  });

  test("opens a link of the introduction in the same tab, which keeps the key", async () => {
    await page.getByLabel("API key").fill(app.secretKey);
    await press("Use key");
    await page.locator(".info").getByRole("link", { name: "GraphQL playground" }).click();
    await inUse(app.secretKey).waitFor();
    expect(page.context().pages()).toHaveLength(1);
  });
});
