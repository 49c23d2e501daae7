import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { useApp } from "../support/app";
import { launchBrowser, observe } from "../support/browser";
import { newAssistant } from "../support/factories";
import { Firefox, firefoxPath } from "../support/firefox";
import { LONG } from "../support/suite";
import { until } from "../support/until";

const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [360, 768, 1440];
type Scheme = "light" | "dark";
const app = useApp({ WORKER: "on" });
let assistantId: string;
let analytics: string;

beforeAll(async () => {
  assistantId = await newAssistant(app.api, { name: "Front desk" });
  const { organization } = await app.api.gql("{ organization { analyticUrl } }");
  const { pathname, hash } = new URL(organization.analyticUrl as string);
  analytics = pathname + hash;
});

async function useKey(page: Page): Promise<void> {
  await page.getByLabel("API key").fill(app.secretKey);
  await page.getByRole("button", { name: "Use key" }).click();
}

interface Row {
  readonly path: () => string;
  /** A selector of what the page shows when it is complete. */
  readonly shows: string;
  /** Steps that open what the page hides at first, each with the part that it changes. */
  readonly steps?: Readonly<Record<string, Step>>;
}
interface Step {
  readonly open: (page: Page) => Promise<unknown>;
  readonly part: string;
}

/** Every kind of page; of the documentation, the longest text, the widest tables and the most code. */
const PAGES: Readonly<Record<string, Row>> = {
  "the landing page": { path: () => "/", shows: "h1" },
  "an error page": { path: () => "/nothing", shows: "h1" },
  "the start of the documentation": { path: () => "/docs", shows: "main h1" },
  "error codes": { path: () => "/docs/errors", shows: "main table" },
  "REST paths": { path: () => "/docs/rest-routes", shows: "main table" },
  settings: { path: () => "/docs/settings", shows: "main table" },
  deployment: { path: () => "/docs/deployment", shows: "main pre" },
  events: { path: () => "/docs/events", shows: "main pre" },
  "the playground": {
    path: () => "/graphql",
    shows: ".graphiql-editor .view-line",
    steps: {
      "an answer and the schema": {
        open: async (page) => {
          await useKey(page);
          await page.getByRole("button", { name: /^Execute query/ }).click();
          await page.locator(".result-window .view-line", { hasText: "assistants" }).waitFor();
          await page.getByLabel("Show Documentation Explorer").click();
          await page.locator(".graphiql-doc-explorer-type-name").first().waitFor();
        },
        part: "body",
      },
      "its history": {
        open: async (page) => {
          await page.getByLabel("Show History").click();
          await page.locator(".graphiql-history-item-label").first().waitFor();
        },
        part: ".graphiql-history",
      },
    },
  },
  "the REST documentation": {
    path: () => "/rest/docs",
    shows: ".opblock",
    steps: {
      "an operation": {
        open: async (page) => {
          await page.locator("#operations-Chats-startChat .opblock-summary-control").click();
          await page.locator(".opblock.is-open .execute").waitFor();
        },
        part: ".opblock.is-open",
      },
      // Before the schemas, because axe reads the whole page to check the dialog.
      "its keys, one of them entered": {
        open: async (page) => {
          await useKey(page);
          await page.getByRole("button", { name: "Authorize", exact: true }).click();
          await page.getByRole("heading", { name: "Authorized" }).waitFor();
        },
        part: ".dialog-ux",
      },
      "another operation, and the schemas of both": {
        open: async (page) => {
          await page.locator(".dialog-ux .close-modal").click();
          await page.locator("#operations-Logs-listLogs .opblock-summary-control").click();
          await page.locator("#operations-Logs-listLogs .responses-table").waitFor();
          for (const tab of await page.getByRole("tab", { name: "Schema" }).all()) await tab.click();
          await page.locator(".opblock .json-schema-2020-12__title", { hasText: "StartedChat" }).waitFor();
        },
        part: ".opblock.is-open",
      },
    },
  },
  "analytics without a link": { path: () => "/analytics", shows: "h1" },
  analytics: { path: () => analytics, shows: "h1" },
  "the widget's demo": { path: () => `/widget/demo?assistantId=${assistantId}`, shows: "iframe" },
};
const rows = Object.entries(PAGES);
/** A page that a link opens with more than it shows at first. */
const OPERATION: [string, Row] = [
  "the REST documentation with an operation",
  { path: () => "/rest/docs#/Chats/startChat", shows: ".opblock.is-open .execute" },
];

/** Whether something is cut off: the page scrolls sideways. */
const IS_TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth";

/** Brightness of the page's background at its left edge, from 0 to 255. */
const BRIGHTNESS = `(() => {
  const paints = ({ backgroundColor }) => !/^(transparent|rgba\\(.*, 0\\))$/.test(backgroundColor);
  let place = document.elementFromPoint(2, innerHeight / 2);
  while (place.parentElement && !paints(getComputedStyle(place))) place = place.parentElement;
  if (!paints(getComputedStyle(place))) place.style.backgroundColor = "Canvas"; // the browser's own
  return Math.max(...getComputedStyle(place).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number));
})()`;
const MAX_DARK_BRIGHTNESS = 80;

describe("in Chromium", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  test.each(rows)(
    "%s fits every window and passes axe, in light and dark colors",
    async (name, { path, shows, steps = {} }) => {
      const page = await browser.newPage({ bypassCSP: true });
      const observed = observe(page, app.url);
      await page.goto(app.url + path());
      await page.locator(shows).first().waitFor();
      await page.evaluate(AXE);
      await check(page, "all");
      for (const [step, { open, part }] of Object.entries(steps)) {
        await open(page);
        await check(page, step, part);
      }
      const refused = name === "an error page" ? [expect.stringContaining("404")] : [];
      expect(observed).toEqual({ elsewhere: [], errors: refused, failed: refused });
      await page.close();
    },
  );
});

/** Checks a page in every window and color. @param part selector of what axe looks at */
async function check(page: Page, step: string, part = "html"): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of WIDTHS) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      const now = [step, colorScheme, width];
      expect([...now, await page.evaluate(IS_TOO_WIDE)]).toEqual([...now, false]);
      if (!isForAxe(colorScheme, width, part)) continue;
      const broken = await violations(page, part, rulesFor(colorScheme));
      expect([...now, broken]).toEqual([...now, []]);
    }
}

/**
 * Whether axe looks at a window in these colors. The short run leaves out what hardly differs: the middle width, narrow
 * windows in the dark, and parts in narrow windows, because axe reads the whole page to check a part of it.
 */
function isForAxe(colorScheme: Scheme, width: number, part: string): boolean {
  if (LONG || width === WIDTHS.at(-1)) return true;
  return width === WIDTHS[0] && colorScheme === "light" && part === "html";
}

/** Options for axe: of its rules, only the check of contrast depends on the colors. */
const rulesFor = (colorScheme: Scheme): object =>
  LONG || colorScheme === "light" ? {} : { runOnly: ["color-contrast"] };

/** Rules that a part of the page breaks, each with an element. */
const violations = (page: Page, part: string, rules: object): Promise<[rule: string, html: string][]> =>
  page.evaluate(
    `axe.run(${JSON.stringify(part)}, ${JSON.stringify({ resultTypes: ["violations"], ...rules })}).then((result) => result.violations.map(({ id, nodes }) => [id, nodes[0].html]))`,
  );

const path = firefoxPath();
if (path === undefined)
  // Listed in the summary of the run. Firefox has no npm package that could replace a missing one, as Chromium has.
  test.todo("views every page in Firefox: apt-get install firefox-esr, or set FIREFOX_PATH");
else
  describe("in Firefox", () => {
    let firefox: Firefox;
    beforeAll(async () => {
      firefox = await Firefox.launch(path, "dark");
    });
    afterAll(() => firefox?.close());

    test.each([...rows, OPERATION])(
      "%s fits every window, and is dark if the system is",
      async (name, row) => {
        await firefox.resize(360);
        await firefox.open("about:blank"); // because only the fragment may differ
        await firefox.open(app.url + row.path());
        await until(() =>
          firefox.evaluate<boolean>(`document.querySelector(${JSON.stringify(row.shows)}) !== null`),
        );
        for (const width of WIDTHS) {
          await firefox.resize(width);
          expect([width, await firefox.evaluate(IS_TOO_WIDE)]).toEqual([width, false]);
        }
        expect(await firefox.evaluate<number>(BRIGHTNESS)).toBeLessThanOrEqual(MAX_DARK_BRIGHTNESS);
        expect([name, firefox.complaints]).toEqual([name, []]);
      },
    );

    test("the widget holds a conversation", async () => {
      await firefox.open(app.url + PAGES["the widget's demo"]!.path());
      const inWidget = <T>(expression: string) => firefox.evaluate<T>(expression, "/widget/frame");
      await until(() => inWidget<boolean>(`document.querySelector("textarea") !== null`));
      await inWidget(`(() => {
        const box = document.querySelector("textarea");
        box.value = "When do you open?";
        box.dispatchEvent(new InputEvent("input", { bubbles: true }));
      })()`);
      await inWidget(`document.querySelector("form").requestSubmit()`); // once the widget knows the text
      await until(() => inWidget<boolean>(`document.querySelectorAll(".theirs.stored").length > 1`));
      expect(firefox.complaints).toEqual([]);
    });
  });
