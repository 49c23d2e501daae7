import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { STATUS } from "../../src/http/errors/error-body";
import { EVENT_NAMES } from "../../src/platform/database/tables/event-names";
import { SETTINGS } from "../../src/platform/settings/config";
import { useApp } from "../support/app";
import { launchBrowser, observe, pasted, WITHOUT_CLIPBOARD, type PageActivity } from "../support/browser";
import { PAGES } from "../support/snippets";

const app = useApp();
let browser: Browser;
let page: Page;
let observed: PageActivity;

beforeAll(async () => {
  browser = await launchBrowser();
  page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  observed = observe(page, app.url);
});
afterAll(() => browser?.close());

/** Paths of all pages, from the navigation. */
const paths = () =>
  page.locator("nav a").evaluateAll((links) => links.map((link) => link.getAttribute("href")!));

test("/docs lists every page of docs/, and each opens without an error", async () => {
  await page.goto(`${app.url}/docs`);
  const listed = await paths();
  const sources = PAGES.filter((source) => source !== "README.md" && source !== "docs/index.md");
  expect(listed).toEqual(expect.arrayContaining(sources.map((source) => `/${source.replace(/\.md$/, "")}`)));
  for (const path of listed) {
    const answer = await page.goto(app.url + path);
    expect([path, answer!.status()]).toEqual([path, 200]);
    expect(await page.locator("main h1").count()).toBe(1);
    expect(await page.locator('nav a[aria-current="page"]').getAttribute("href")).toBe(path);
    const broken = await page.evaluate(
      `[...document.querySelectorAll('main a[href^="#"], aside a')].map((link) => link.hash.slice(1)).filter((id) => !document.getElementById(id))`,
    );
    expect([path, broken]).toEqual([path, []]);
  }
  expect(observed).toEqual({ elsewhere: [], errors: [], failed: [] });
});

test("examples for clients name the server that shows them, and a proxy's configuration its upstream", async () => {
  await page.goto(`${app.url}/docs/graphql-clients`);
  const clients = await page.locator("main").textContent();
  expect(clients).toContain(`"${app.url}/graphql"`);
  expect(clients).toContain(`"${app.url.replace("http", "ws")}/graphql"`);
  expect(clients).not.toContain("127.0.0.1:4000");
  await page.goto(`${app.url}/docs/deployment`);
  expect(await page.locator("code.language-nginx").first().textContent()).toContain(
    "proxy_pass http://127.0.0.1:4000",
  );
});

/** Opens a page with the search, unless it is open: each page loads the index again. */
async function openSearch(): Promise<void> {
  if (page.url() !== `${app.url}/docs`) await page.goto(`${app.url}/docs`);
}

test("the search finds a section and opens it", async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${app.url}/docs`);
  await page.fill("#searchField", "rotate encryption");
  await page.locator("#searchResults a").first().waitFor();
  await page.press("#searchField", "Enter");
  await page.waitForURL(`${app.url}/docs/backup#rotate-encryption-keys`);
});

test("the search says that it loads, and Enter waits for its result", async () => {
  await page.goto(`${app.url}/docs`);
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/search.json*", (route) => held.then(() => route.continue()));
  await page.fill("#searchField", "rotate encryption");
  await page.getByText("Searching …").waitFor();
  await page.press("#searchField", "Enter");
  release();
  await page.waitForURL(`${app.url}/docs/backup#rotate-encryption-keys`);
  await page.unroute("**/search.json*");
});

test("results close when the focus leaves them, and with Escape, which returns the focus", async () => {
  await page.goto(`${app.url}/docs`);
  const results = page.locator("#searchResults");
  await page.fill("#searchField", "webhooks");
  await results.locator("a").first().waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  await results.waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.id")).toBe("searchField");
  await page.keyboard.type(" sign");
  await results.locator("a").last().focus();
  await page.keyboard.press("Tab");
  await results.waitFor({ state: "hidden" });
});

test.each([
  ["pagination", "/docs/paging"],
  ["refresh token", "/docs/tokens"],
])("the search for %s finds %s", async (words, path) => {
  await openSearch();
  await page.fill("#searchField", words);
  await page.locator(`#searchResults a[href^="${path}"]`).first().waitFor();
});

const references = async () => {
  const codes = [...(await namesIn("docs/errors.md"))].map((code) => [code, "errors", code] as const);
  expect(codes.map(([code]) => code)).toEqual(
    expect.arrayContaining([...Object.keys(STATUS), "UNRESOLVED_VARIABLE"]),
  );
  const settings = Object.keys(SETTINGS).map((name) => [name, "settings", name] as const);
  const events = EVENT_NAMES.map((name) => [name, "events", name] as const);
  return [...codes, ...settings, ...events];
};
const namesIn = async (source: string) =>
  [...(await readFile(source, "utf8")).matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name!);

interface Found {
  readonly href: string;
  readonly text: string;
}

/** Searches in the page, because each step from here takes as long as a search. */
const SEARCH = `async (searches) => {
  const [field, results] = ["searchField", "searchResults"].map((id) => document.getElementById(id));
  const found = [];
  for (const words of searches) {
    results.replaceChildren();
    field.value = words;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    while (["", "Searching …"].includes(results.textContent)) await new Promise((resolve) => setTimeout(resolve));
    const links = [...results.querySelectorAll("a")];
    found.push(links.map((link) => ({ href: link.getAttribute("href"), text: link.textContent })));
  }
  return found;
}`;

/** The results of each search, with their links and texts. */
const foundFor = (searches: readonly string[]): Promise<Found[][]> =>
  page.evaluate(`(${SEARCH})(${JSON.stringify(searches)})`);

const found = async (words: string): Promise<Found[]> => (await foundFor([words]))[0]!;

test("the name of an error code, a setting or an event is found first, with its row or section", async () => {
  await openSearch();
  const all = await references();
  const results = await foundFor(all.map(([words]) => words));
  for (const [index, [words, name, anchor]] of all.entries())
    expect(results[index]![0]).toEqual({
      href: `/docs/${name}#${anchor}`,
      text: expect.stringContaining(words),
    });
});

test.each([
  ["GET /rest/v1/assistants/{id}", "/docs/rest-routes#row-get-rest-v1-assistants-id"],
  ["/rest/v1/ai-chats/:id/end", "/docs/rest-routes#row-post-rest-v1-ai-chats-id-end"],
  ["npm run backup", "/docs/backup#"],
  ["npm run --silent org:create", "/docs/operations#"],
  ["chat_ended", "/docs/errors#CHAT_ENDED"],
  ["GPT_4_O_MINI", "/docs/models#GPT_4_O_MINI"],
  ["what is the PORT setting?", "/docs/settings#PORT"],
  ["change the port", "/docs/settings#PORT"],
  ["how do I upload a file", "/docs/graphql-clients#uploads"],
  ["rate limit", "/docs/errors#RATE_LIMITED"],
  ["CSP", "/docs/widget#the-widget"],
])("the search for %j finds %s first", async (words, address) => {
  await openSearch();
  expect((await found(words))[0]!.href.startsWith(address)).toBe(true);
});

test.each([
  ["streaming", "stream", "/docs/graphql-clients#without-websockets"],
  ["allowed origins", "allowedOrigins", "/docs/widget#limit-it-to-your-pages"],
  ["encrypted", "encrypt", "/docs/settings#ENCRYPTION_KEYS"],
])("the search for %j finds %j in %s, with the words in the excerpt", async (words, excerpt, address) => {
  await openSearch();
  const results = await found(words);
  expect(results.find(({ href }) => href === address)?.text).toContain(excerpt);
});

test.each(["rate limit", "upload a file", "widget", "search"])(
  "the changelog and the page for contributors come last for %j",
  async (words) => {
    await openSearch();
    const isLast = (await found(words)).map(({ href }) => /changelog|contributing/.test(href));
    expect(isLast).toEqual(isLast.toSorted((a, b) => Number(a) - Number(b)));
    expect(isLast[0]).toBe(false);
  },
);

test("a link to the row of an error code shows it", async () => {
  await page.goto(`${app.url}/docs/errors#CHAT_ENDED`);
  expect(await page.locator("tr:target").innerText()).toMatch(/^CHAT_ENDED/);
});

test("texts of the search index have no spaces around code and links that the page lacks", async () => {
  const index = await (await fetch(`${app.url}/docs/assets/search.json`)).text();
  expect(index).toContain(
    "webhook-signature, with webhook-id and webhook-timestamp, as in Standard Webhooks: v1,",
  );
});

test("no text of the search index contains an entity", async () => {
  const index = await (await fetch(`${app.url}/docs/assets/search.json`)).text();
  expect(index).toContain("'");
  expect(index.match(/&(#\w+|amp|lt|gt|quot);/g)).toBeNull();
});

test.each([320, 360, 390, 480, 599, 601, 768, 1440])(
  "the results of the search lie within a window of %d px",
  async (width) => {
    await page.setViewportSize({ width, height: 700 });
    await page.goto(`${app.url}/docs`);
    await page.fill("#searchField", "webhooks");
    await page.locator("#searchResults a").first().waitFor();
    const box = (await page.locator("#searchResults").boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(width);
    expect(box.width).toBeGreaterThan(Math.min(width, 600) * 0.9 - 40);
    expect(box.y).toBeGreaterThan(0);
  },
);

test("on a phone, no page of the documentation is wider than the screen", async () => {
  await page.setViewportSize({ width: 360, height: 700 });
  const wide: string[] = [];
  for (const source of PAGES.filter((one) => one.startsWith("docs/"))) {
    await page.goto(`${app.url}/${source.replace(/\.md$/, "").replace("docs/index", "docs")}`);
    if ((await page.evaluate<number>("document.documentElement.scrollWidth")) > 360) wide.push(source);
  }
  expect(wide).toEqual([]);
});

test.each(["settings", "errors", "rest-routes"])(
  "on a phone, the tables of /docs/%s need no sideways scrolling",
  async (name) => {
    await page.setViewportSize({ width: 360, height: 700 });
    await page.goto(`${app.url}/docs/${name}`);
    const cut = await page
      .locator(".table, .table td")
      .evaluateAll((all) => all.filter((part) => part.scrollWidth > part.clientWidth).length);
    expect(cut).toBe(0);
    const label = await page.evaluate<string>(
      `getComputedStyle(document.querySelector("td:nth-child(2)"), "::before").content`,
    );
    expect(label).toMatch(/Default|Status|Path/);
  },
);

test("code can be copied where browsers deny the clipboard, as they do without HTTPS", async () => {
  const other = await page.context().newPage();
  await other.addInitScript(WITHOUT_CLIPBOARD);
  await other.goto(`${app.url}/docs/versions`);
  await other.getByRole("button", { name: "Copy" }).first().click();
  await other.getByRole("button", { name: "Copied" }).waitFor();
  const words = (text: string) => text.trim().split(/\s+/);
  const code = await other.locator("pre code").first().innerText();
  expect(words(await pasted(other, "#searchField"))).toEqual(words(code));
  await other.close();
});

test("the menu opens the list of pages on a phone", async () => {
  await page.setViewportSize({ width: 360, height: 700 });
  await page.goto(`${app.url}/docs`);
  await page.locator("nav").waitFor({ state: "hidden" });
  await page.click("#menuButton");
  await page.locator("nav a").first().focus();
  await page.keyboard.press("Escape");
  await page.locator("nav").waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.id")).toBe("menuButton");
  await page.click("#menuButton");
  await page.locator("nav").getByText("Webhooks").click();
  await page.waitForURL(`${app.url}/docs/webhooks`);
});

test("an unknown page is not found", async () => {
  expect((await fetch(`${app.url}/docs/unknown`)).status).toBe(404);
  expect((await fetch(`${app.url}/docs/..%2findex`)).status).toBe(404);
});
