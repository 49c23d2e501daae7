import { readFile } from "node:fs/promises";
import type { Browser, Locator, Page, Request } from "playwright-core";
import { useApp } from "../support/app";
import type { Api } from "../support/api";
import { signToken, verifyToken } from "../../src/account/auth/tokens";
import { launchBrowser, observe, type PageActivity } from "../support/browser";
import { newAssistant, newChat, quietAssistant, say } from "../support/factories";
import { randomFrom, randomHistory, store, type PastChat } from "../support/history";
import { until } from "../support/until";

const app = useApp();
const NOTHING = { elsewhere: [], errors: [], failed: [] };
/** Chromium's name for Asia/Kathmandu. */
const BROWSER_ZONE = "Asia/Katmandu";
const EVIL = `<img src=x onerror="globalThis.hacked = true"> & <script>globalThis.hacked = true</script>`;
let browser: Browser;
let page: Page;
let observed: PageActivity;
let history: PastChat[];
let frontDesk: string;

beforeAll(async () => {
  browser = await launchBrowser();
  const { id: organizationId } = await app.api.get("/rest/v1/organization", 200);
  frontDesk = await newAssistant(app.api, { name: "Front desk" });
  const assistantIds = [frontDesk, await newAssistant(app.api, { name: EVIL })];
  const days = 20;
  const from = new Date(Date.now() - days * 86_400_000);
  history = randomHistory(randomFrom(11), { assistantIds, count: 60, from, days, prefix: "past" });
  await store(app.database, organizationId, history);
  await app.database.query(
    "update chats set label = $1, ended_reason = case when status = 'ended' then $1 end where id = 'past-00059'",
    [`=1+1 ${EVIL}`],
  );
});
afterAll(() => browser?.close());

const linkOf = async (api: Api = app.api): Promise<string> =>
  (await api.gql("{ organization { analyticUrl } }")).organization.analyticUrl;

async function newPage(options: object = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    timezoneId: BROWSER_ZONE,
    locale: "en-GB",
    ...options,
  });
  page = await context.newPage();
  observed = observe(page, app.url);
}
beforeEach(() => newPage());
afterEach(() => page.context().close());

const region = (name: string) => page.getByRole("region", { name, exact: true });
const rows = () => page.locator("table.logs tbody tr");

async function open(link?: string) {
  await page.goto(link ?? (await linkOf()));
  await rows().first().waitFor();
}

/** Lines of the file that a card offers. */
async function csvOf(name: string): Promise<string[]> {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: `Download ${name} as CSV`, exact: true }).click(),
  ]);
  const text = await readFile(await file.path(), "utf8");
  expect(text.startsWith("\ufeff")).toBe(true);
  return text.slice(1).trimEnd().split("\r\n");
}

const choice = (name: string) => page.getByRole("combobox", { name, exact: true });
const tile = (name: string) => page.locator(".tile", { hasText: name }).locator("strong");

test("shows the figures of GraphQL by days of the browser's time zone, without requests to other hosts or console messages", async () => {
  await open();
  await page.waitForLoadState("networkidle");
  expect(await tile("Conversations").innerText()).toBe(String(history.length));
  for (const text of await page.locator(".tile .change").allInnerTexts())
    expect(text).toMatch(/^Unchanged|^[↑↓] |^No (earlier )?data$/);
  const perDay = new Map<string, number>();
  const day = new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Kathmandu", dateStyle: "short" });
  for (const { startedAt } of history)
    perDay.set(day.format(startedAt), (perDay.get(day.format(startedAt)) ?? 0) + 1);
  const [head, ...lines] = await csvOf("Conversations by day");
  expect(head).toBe(`Day (${BROWSER_ZONE}),Chat,Voice,SMS,All,Messages`);
  expect(lines).toHaveLength(30);
  for (const line of lines) {
    const [date, chat, voice, sms, all] = line.split(",");
    expect(Number(all)).toBe(perDay.get(date!) ?? 0);
    expect(Number(chat) + Number(voice) + Number(sms)).toBe(Number(all));
  }
  expect(observed).toEqual(NOTHING);
});

test("moves the token from the URL to the tab's storage, where a reload finds it", async () => {
  await open();
  expect(page.url()).toBe(`${app.url}/analytics?period=30`);
  await page.reload();
  await rows().first().waitFor();
  const stored = await page.evaluate("[Object.keys(localStorage), document.cookie]");
  expect(stored).toEqual([[], ""]);
});

test("offers every chart as a table", async () => {
  await open();
  const charts = page.getByRole("img");
  const count = await charts.count();
  expect(count).toBeGreaterThanOrEqual(7);
  for (const summary of await page.locator(".card summary").all()) await summary.click();
  expect(await page.locator(".card details[open] table").count()).toBe(count);
  const table = region("Table: Functions");
  const [name, calls, succeeded, failed] = await table
    .locator("tbody tr")
    .first()
    .locator("th, td")
    .allInnerTexts();
  expect(["book", "cancel"]).toContain(name);
  expect(Number(succeeded) + Number(failed)).toBe(Number(calls));
});

/** Charts that show only grid lines and labels. */
const emptyCharts = (): Promise<string[]> =>
  page.evaluate(`(() => {
    const isColoured = ([red, green, blue, opacity]) =>
      opacity > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 64;
    const isEmpty = (canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return !data.some((_, at) => at % 4 === 0 && isColoured(data.subarray(at, at + 4)));
    };
    return [...document.querySelectorAll("canvas")].filter(isEmpty).map(({ ariaLabel }) => ariaLabel);
  })()`);

test("draws every chart for a single day with conversations", async () => {
  const { api } = await app.otherOrganization();
  const { id: organizationId } = await api.get("/rest/v1/organization", 200);
  const assistantIds = [await newAssistant(api, { name: "New" })];
  const from = new Date(Date.now() - 86_400_000);
  from.setUTCHours(6, 0, 0, 0);
  const options = { assistantIds, count: 10, from, days: 0.1, prefix: "single" };
  await store(app.database, organizationId, randomHistory(randomFrom(11), options));
  await open(await linkOf(api));
  expect(await page.getByRole("img").count()).toBeGreaterThanOrEqual(6);
  await until(async () => (await emptyCharts()).length === 0);
});

test("filters by assistant, channel and days, and stores the filters in the URL", async () => {
  await open();
  await choice("Channel").selectOption("SMS");
  const sms = history.filter(({ channel }) => channel === "SMS").length;
  await expectText(tile("Conversations"), String(sms));
  await choice("Assistant").selectOption({ label: "Front desk" });
  const both = history.filter((chat) => chat.channel === "SMS" && chat.assistantId === frontDesk).length;
  await expectText(tile("Conversations"), String(both));
  await page.reload();
  await expectText(tile("Conversations"), String(both));
  await choice("Channel").selectOption("");
  await choice("Period").selectOption("custom");
  await page.getByLabel("From").fill("2030-01-01");
  await page.getByRole("alert").getByText("The first day must not be after the last one.").waitFor();
  await page.getByLabel("To", { exact: true }).fill("2030-01-02");
  await page.getByRole("heading", { name: "No conversations like these in this period" }).waitFor();
  expect(observed.errors).toEqual([]);
});

const expectText = (place: ReturnType<Page["locator"]>, text: string) =>
  place.filter({ hasText: new RegExp(`^${text}$`) }).waitFor();

test("lists logs page by page, searches their messages, and shows transcripts", async () => {
  await open();
  const names = () => rows().locator("button").allInnerTexts();
  const first = await names();
  expect(first).toHaveLength(15);
  await page.getByRole("button", { name: "Older" }).click();
  await page.getByText("Page 2").waitFor();
  await rows().getByText(`Caller past-000`).first().waitFor();
  await page.getByRole("button", { name: "Newer" }).click();
  await page.getByText("Page 1").waitFor();
  await page.getByRole("searchbox").fill("past-00007");
  await rows().nth(1).waitFor({ state: "detached" });
  expect(await names()).toEqual(["Caller past-00007"]);
  await rows().getByRole("button").click();
  const dialog = page.getByRole("dialog", { name: "Caller past-00007" });
  const said = history
    .find(({ id }) => id === "past-00007")!
    .messages.filter(({ role, content }) => role !== "TOOL" && content);
  await dialog
    .locator(".words")
    .nth(said.length - 1)
    .waitFor();
  expect(await dialog.locator(".words").allInnerTexts()).toEqual(said.map(({ content }) => content));
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("searchbox").fill("nobody ever said this");
  await page.getByText("Nothing was found.").waitFor();
});

test("escapes markup in names, labels, reasons and messages, and formulas in CSV files", async () => {
  await open();
  await page.getByRole("searchbox").fill("1+1");
  await rows().nth(1).waitFor({ state: "detached" });
  const [, line] = await csvOf("Recent logs");
  expect(line).toContain(`"'=1+1 <img src=x onerror=""globalThis.hacked`);
  await rows().getByRole("button").click();
  await page.getByRole("dialog").getByRole("heading", { name: "=1+1 <img" }).waitFor();
  await page.keyboard.press("Escape");
  await region("Unanswered questions").getByRole("button").nth(1).click();
  await page.getByRole("dialog").getByText("onerror=alert(1)").first().waitFor();
  expect(await page.locator("img, #dashboard script").count()).toBe(0);
  expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
  expect(observed).toEqual(NOTHING);
});

test("keeps the selected assistant in its menu in a period without its conversations", async () => {
  await open();
  await choice("Assistant").selectOption(frontDesk);
  await page.getByRole("heading", { name: "Conversations by day" }).waitFor();
  await page.goto(`${page.url()}&first=2025-01-01&last=2025-01-02`);
  await heading("No conversations like these in this period").waitFor();
  expect(await choice("Assistant").inputValue()).toBe(frontDesk);
  expect(await choice("Assistant").locator("option:checked").innerText()).toBe("Selected assistant");
});

describe("with long names and texts from right to left", () => {
  const ARABIC = "مرحبا. متى تفتحون؟ (اليوم)";
  let link: string;
  beforeAll(async () => {
    const { api } = await app.otherOrganization();
    const names = ["N".repeat(250), "Twin", "Twin"];
    const ids = await Promise.all(names.map((name) => quietAssistant(api, { name })));
    for (const id of ids) await say(api, await newChat(api, id), ARABIC, "USER");
    link = await linkOf(api);
  });

  test.each([1280, 390])("shows the figures of assistants in a window of %i pixels", async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await open(link);
    const table = region("Table: Assistants");
    await table.locator("tbody tr").first().waitFor();
    expect(await table.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
  });

  test("tells assistants of the same name apart in the menu", async () => {
    await open(link);
    const options = await choice("Assistant").locator("option").allInnerTexts();
    expect(options.filter((text) => /^Twin \(.+\)$/.test(text))).toHaveLength(2);
  });

  test("writes each text in its own direction", async () => {
    await open(link);
    const isRightToLeft = (text: Locator) => text.evaluate((one) => one.matches(":dir(rtl)"));
    expect(await isRightToLeft(rows().first().locator("bdi").first())).toBe(true);
    expect(await isRightToLeft(rows().first().getByText("Chat"))).toBe(false);
    await rows().first().getByRole("button").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(ARABIC).nth(1).waitFor();
    const texts = [dialog.getByRole("heading"), dialog.locator(".user .words")];
    for (const text of texts) expect(await isRightToLeft(text)).toBe(true);
  });
});

test("shows every log of a page above the buttons for other pages", async () => {
  await open();
  const boxes = [rows().last(), page.getByRole("button", { name: "Older" })].map((one) => one.boundingBox());
  const [last, older] = await Promise.all(boxes);
  expect(older!.y).toBeGreaterThanOrEqual(last!.y + last!.height);
});

test("its fields and menus have borders of sufficient contrast", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await open();
    const contrasts = await page.evaluate<number[]>(BORDER_CONTRASTS);
    expect(contrasts.length).toBeGreaterThanOrEqual(5);
    expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(3);
  }
});

/** Contrast of the border of each field and menu with its own background, as WCAG 2.2 computes it. */
const BORDER_CONTRASTS = `(() => {
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\\d.]+/g).map((part) => linear(part / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  return [...document.querySelectorAll("select, input")].map((one) => {
    const { borderTopColor, backgroundColor } = getComputedStyle(one);
    const [low, high] = [luminance(borderTopColor), luminance(backgroundColor)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  });
})()`;

const EXPIRED = "Your session has ended";
const SIGN_IN = "Sign in to analytics";
const heading = (name: string) => page.getByRole("heading", { name });
const storedToken = (): Promise<string> => page.evaluate(`sessionStorage.getItem("parley-analytics-token")`);
/** Makes the token invalid, as if it had expired while the computer slept. */
const breakToken = () =>
  page.evaluate(`{
    const [head, , signature] = sessionStorage.getItem("parley-analytics-token").split(".");
    sessionStorage.setItem("parley-analytics-token", head + ".e30." + signature);
  }`);

const nextRenewal = () =>
  page.waitForResponse((response) => /IssueAnalyticsToken/.test(response.request().postData() ?? ""));

async function signInWith(key: string) {
  await page.getByLabel("SECRET key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
}

describe("without a valid token, the page", () => {
  test("explains how to sign in, and another link works in the same tab", async () => {
    await open();
    await breakToken();
    await choice("Period").selectOption("7");
    await heading(EXPIRED).waitFor();
    expect(await page.locator("pre").innerText()).toBe("npm run analytics:link");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    const link = await linkOf();
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(link).hash)}`);
    await rows().first().waitFor();
  });

  test("takes a SECRET key, sends it once and does not store it", async () => {
    await page.goto(`${app.url}/analytics`);
    await heading(SIGN_IN).waitFor();
    await signInWith(app.publicKey);
    await page.getByRole("alert").getByText("PUBLIC key").waitFor();
    await signInWith(`${app.secretKey}x`);
    await page.getByRole("alert").getByText("This API key is unknown.").waitFor();
    const sent: string[] = [];
    page.on("request", (request) => {
      if (JSON.stringify(request.headers()).includes(app.secretKey)) sent.push(request.url());
    });
    await signInWith(` ${app.secretKey} `);
    await rows().first().waitFor();
    expect(sent).toEqual([`${app.url}/graphql`]);
    const kept = await page.evaluate(
      "[document.cookie, location.href, document.body.innerHTML, ...Object.values(localStorage), ...Object.values(sessionStorage)].join()",
    );
    expect(kept).not.toContain(app.secretKey);
  });

  test("says that it signs in, once for two clicks, and returns to the field after a refusal", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let requests = 0;
    await page.route("**/graphql", async (route) => {
      requests++;
      await held;
      await route.fallback();
    });
    await page.goto(`${app.url}/analytics`);
    await signInWith(app.publicKey);
    await page.getByRole("button", { name: "Signing in …" }).click({ force: true });
    release();
    await page.getByRole("alert").getByText("PUBLIC key").waitFor();
    expect(requests).toBe(1);
    expect(
      await page.getByLabel("SECRET key").evaluate((one) => one === one.ownerDocument.activeElement),
    ).toBe(true);
    await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  });

  test("signs out at the viewer's wish, and forgets the token", async () => {
    await open();
    await page.getByRole("button", { name: "Sign out" }).click();
    await heading(SIGN_IN).waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    expect(await heading(SIGN_IN).evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    await page.reload();
    await heading(SIGN_IN).waitFor();
    expect(await rows().count()).toBe(0);
  });

  test("asks the viewer to sign in when the computer wakes up after the token has expired", async () => {
    await page.clock.install();
    await open();
    await page.waitForLoadState("networkidle");
    await breakToken();
    await page.clock.fastForward("00:59:00");
    await heading(EXPIRED).waitFor();
    expect(await rows().count()).toBe(0);
  });
});

describe("while it is open, the page", () => {
  test("renews its token before it expires", async () => {
    await page.clock.install();
    await open();
    await page.waitForLoadState("networkidle");
    for (let round = 0; round < 4; round++) {
      const [renewal] = await Promise.all([nextRenewal(), page.clock.fastForward("10:01")]);
      const { data } = (await renewal.json()) as { data: { issueAnalyticsToken: { token: string } } };
      await until(async () => (await storedToken()) === data.issueAnalyticsToken.token);
    }
    expect(await rows().count()).toBeGreaterThan(0);
  });

  test("tries again when the server could not be reached", async () => {
    await page.clock.install();
    await open();
    await page.waitForLoadState("networkidle");
    await page.route("**/graphql", (route) => route.abort());
    await Promise.all([page.waitForEvent("requestfailed"), page.clock.fastForward("10:01")]);
    await page.unroute("**/graphql");
    await Promise.all([nextRenewal(), page.clock.fastForward("00:21")]);
    expect(await rows().count()).toBeGreaterThan(0);
  });

  test("says when its session has ended", async () => {
    const { hash } = new URL(await linkOf());
    const crypto = app.app.database.scope("").ports.crypto;
    const claims = await verifyToken(crypto, hash.replace("#token=", ""));
    const soon = new Date(Date.now() + 6_000);
    const token = await signToken(crypto, { ...claims, expiresAt: soon, renewableUntil: soon });
    await open(`${app.url}/analytics#token=${token}`);
    await heading(EXPIRED).waitFor();
    await signInWith(app.secretKey);
    await rows().first().waitFor();
  });

  test("ends the session when the key of its link has been deactivated", async () => {
    const { id, value } = await app.api.post("/rest/v1/organization/keys", {}, 200);
    await page.clock.install();
    await open(await linkOf(app.api.as({ "X-API-Key": value })));
    await page.waitForLoadState("networkidle");
    await app.api.patch(`/rest/v1/organization/keys/${id}`, { status: "INACTIVE" }, 200);
    await page.clock.fastForward("10:01");
    await heading(EXPIRED).waitFor();
  });
});

describe("time zones:", () => {
  const countByDay = async () => {
    const [head, ...lines] = await csvOf("Conversations by day");
    return { head, days: new Map(lines.map((line) => [line.split(",")[0]!, Number(line.split(",")[4])])) };
  };
  const expectedIn = (timeZone: string) => {
    const day = new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
    const days = history.map(({ startedAt }) => day.format(startedAt));
    return (date: string) => days.filter((one) => one === date).length;
  };

  test("the page names the browser's, and shows days, times and files in the chosen one", async () => {
    await open();
    await page.getByText(`Days and times in ${BROWSER_ZONE} (GMT+5:45)`).waitFor();
    expect(await choice("Time zone").inputValue()).toBe(BROWSER_ZONE);
    for (const timeZone of ["Pacific/Kiritimati", "America/Los_Angeles", "UTC"]) {
      await Promise.all([
        page.waitForResponse((response) => response.request().postData()?.includes(timeZone) ?? false),
        choice("Time zone").selectOption(timeZone),
      ]);
      await page.locator("main[aria-busy=false]").waitFor();
      const { head, days } = await countByDay();
      expect(head).toBe(`Day (${timeZone}),Chat,Voice,SMS,All,Messages`);
      const expected = expectedIn(timeZone);
      expect([...days]).toEqual([...days.keys()].map((date) => [date, expected(date)]));
      const { startedAt } = history.toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime())[0]!;
      const time = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone });
      await rows().first().getByText(time.format(startedAt)).waitFor();
    }
    await choice("Time zone").selectOption("America/Los_Angeles");
    await page.waitForURL(/timezone=America%2FLos_Angeles/);
    await page.reload();
    await page.getByText("Days and times in America/Los_Angeles").waitFor();
    expect(await choice("Time zone").inputValue()).toBe("America/Los_Angeles");
  });

  test("an unknown one in the URL is ignored", async () => {
    await page.goto(`${app.url}/analytics?timezone=Mars/Olympus`);
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(await linkOf()).hash)}`);
    await page.getByText(`Days and times in ${BROWSER_ZONE}`).waitFor();
  });

  test.each([
    ["Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z"],
    ["America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z"],
    ["Asia/Kathmandu", "2026-01-01", "2025-12-31T18:15:00.000Z"],
  ])("in %s, %s starts at its first moment, also when clocks change then", async (timezone, day, start) => {
    const { hash } = new URL(await linkOf());
    const query = new URLSearchParams({ timezone, first: day, last: day });
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.postData()?.includes("ReadStatistics") ?? false),
      page.goto(`${app.url}/analytics?${query.toString()}${hash}`),
    ]);
    const { variables } = request.postDataJSON() as { variables: { now: { from: string; to: string } } };
    expect(variables.now.from).toBe(start);
  });
});

test("marks answers that were looked up without a model", async () => {
  const { api } = await app.otherOrganization();
  const chat = await newChat(api, await quietAssistant(api, { name: "Shop" }));
  const local = await say(api, chat, "We open at nine.");
  await say(api, chat, "Written by a person.");
  await app.database.query(`update messages set metadata = '{"local": true}' where id = $1`, [local]);
  await open(await linkOf(api));
  await rows().first().getByRole("button").click();
  const marked = page.getByRole("dialog").locator("li", { has: page.getByText("Local", { exact: true }) });
  await marked.first().waitFor();
  expect(await marked.locator(".words").allInnerTexts()).toEqual(["We open at nine."]);
});

test("shows an empty state for an organization without conversations, and no data of others", async () => {
  const { api } = await app.otherOrganization();
  await page.goto(await linkOf(api));
  await page.getByRole("heading", { name: "No conversations in this period" }).waitFor();
  expect(await tile("Conversations").innerText()).toBe("0");
  const changes = page.locator(".tile .change");
  expect(new Set(await changes.allInnerTexts())).toEqual(new Set(["Unchanged", "No data"]));
  expect(await rows().count()).toBe(0);
});

test("reports that the server is unreachable and offers to retry", async () => {
  await page.route("**/graphql", (route) => route.abort());
  await page.goto(await linkOf());
  await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/graphql");
  await page.getByRole("button", { name: "Try again" }).click();
  await rows().first().waitFor();
});

describe("while the server cannot be reached, the page", () => {
  const isFor = (operation: string) => (request: Request) => request.postData()?.includes(operation) ?? false;
  /** Breaks an operation. @returns a function that mends it */
  const without = async (operation: string) => {
    await page.route("**/graphql", (route) =>
      isFor(operation)(route.request()) ? route.abort() : route.fallback(),
    );
    return () => page.unroute("**/graphql");
  };
  const again = () => page.getByRole("alert").getByRole("button", { name: "Try again" }).click();

  test("keeps the logs that it shows, and offers to read the wanted ones again", async () => {
    await open();
    const mend = await without("ReadLogs");
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
    expect(await rows().count()).toBe(15);
    const before = await rows().first().innerText();
    await mend();
    await again();
    await until(async () => (await rows().first().innerText()) !== before);
    await page.getByRole("alert").waitFor({ state: "detached" });
  });

  test("offers to read a transcript again", async () => {
    await open();
    const mend = await without("ReadLog(");
    await rows().first().getByRole("button").click();
    await page.getByRole("dialog").getByRole("alert").getByText("cannot be reached").waitFor();
    await mend();
    await again();
    await page.getByRole("dialog").locator(".messages, .empty:text('No messages.')").waitFor();
  });
});

test("says that logs load, and turns one page for two quick clicks", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/graphql", async (route) => {
    if (route.request().postData()?.includes("ReadLogs")) await held;
    await route.fallback();
  });
  await page.goto(await linkOf());
  const logs = region("Recent logs");
  await logs.getByRole("status").getByText("Loading …").waitFor();
  release();
  await logs.getByRole("status").getByText("15 shown").waitFor();
  await page.getByRole("button", { name: "Older" }).dblclick();
  await page.getByText("Page 2").waitFor();
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Older");
});

describe("the transcript of a conversation", () => {
  const dialog = () => page.getByRole("dialog");
  const openFirst = async () => {
    await open();
    await rows().first().getByRole("button").click();
    await dialog().waitFor();
  };

  test("closes with the back button of the browser, which keeps the page and returns the focus", async () => {
    await openFirst();
    const name = await dialog().getByRole("heading").innerText();
    await page.goBack();
    await dialog().waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.textContent")).toBe(name);
    await page.goForward();
    await page.getByRole("dialog", { name }).waitFor();
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
    await until(() => page.url() === `${app.url}/analytics?period=30`);
  });

  test("names its assistant, as the list does", async () => {
    await openFirst();
    const name = await dialog().locator("header p bdi").innerText();
    expect(await rows().first().locator("td").allInnerTexts()).toContain(name);
  });

  test("has an address, which opens it after a sign-in in another tab", async () => {
    await openFirst();
    const said = await dialog().locator(".said-all").innerText();
    const address = page.url();
    await page.context().close();
    await newPage();
    await page.goto(address);
    await signInWith(app.secretKey);
    await dialog().locator(".said-all").getByText(said.split("\n")[0]!).first().waitFor();
    await dialog().getByRole("button", { name: "Close" }).click();
    await dialog().waitFor({ state: "detached" });
    await until(() => page.url() === `${app.url}/analytics?period=30`);
  });
});

describe.each([
  ["light", 1280],
  ["dark", 1280],
  ["light", 390],
  ["dark", 390],
] as const)("in %s, %i pixels wide", (colorScheme, width) => {
  test("passes axe and fits the width of the window", async () => {
    await page.context().close();
    await newPage({ colorScheme, viewport: { width, height: 844 }, bypassCSP: true });
    await open();
    for (const summary of await page.locator(".card summary").all()) await summary.click();
    expect(await problems()).toEqual([]);
    const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
    await region("Unanswered questions").getByRole("button").nth(1).click();
    await page.getByRole("dialog").locator(".words").first().waitFor();
    expect(await problems()).toEqual([]);
    await page.evaluate("sessionStorage.clear()");
    await page.reload();
    await heading(SIGN_IN).waitFor();
    expect(await problems()).toEqual([]);
  });
});

/** Violations that axe finds on the page. */
async function problems(): Promise<string[]> {
  if (await page.evaluate("!window.axe"))
    await page.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: Violation[] }> };
    };
    interface Violation {
      id: string;
      nodes: { html: string; failureSummary: string }[];
    }
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 120)} ${failureSummary}`),
    );
  });
}
