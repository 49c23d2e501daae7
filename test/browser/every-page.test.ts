import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { useApp } from "../support/app";
import { launchBrowser, observe } from "../support/browser";
import { newAssistant } from "../support/factories";
import { Firefox, firefoxPath } from "../support/firefox";
import { until } from "../support/until";

jest.setTimeout(120_000);

const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [360, 768, 1440];
/** What GraphiQL breaks: its line numbers, its tabs with buttons inside, and its lack of landmarks. */
const PLAYGROUND_RULES = [
  "color-contrast",
  "landmark-one-main",
  "nested-interactive",
  "page-has-heading-one",
  "region",
];
/** What Swagger UI breaks: its colors, its landmarks, its list of servers, and summaries with buttons inside. */
const SWAGGER_RULES = [
  "color-contrast",
  "landmark-main-is-top-level",
  "landmark-no-duplicate-main",
  "landmark-unique",
  "nested-interactive",
  "select-name",
];
const app = useApp({ WORKER: "on" });
let assistantId: string;
let analytics: string;

beforeAll(async () => {
  assistantId = await newAssistant(app.api, { name: "Front desk" });
  const { organization } = await app.api.gql("{ organization { analyticUrl } }");
  const { pathname, hash } = new URL(organization.analyticUrl as string);
  analytics = pathname + hash;
});

interface Row {
  readonly path: () => string;
  /** A selector of what the page shows when it is complete. */
  readonly shows: string;
  /** Rules that a library breaks whose page this is. */
  readonly broken?: readonly string[];
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
    broken: PLAYGROUND_RULES,
  },
  "the REST documentation": { path: () => "/rest/docs", shows: ".opblock", broken: SWAGGER_RULES },
  "analytics without a link": { path: () => "/analytics", shows: "h1" },
  analytics: { path: () => analytics, shows: "h1" },
  "the widget's demo": { path: () => `/widget/demo?assistantId=${assistantId}`, shows: "iframe" },
};
const rows = Object.entries(PAGES);

/** Whether something is cut off: the page scrolls sideways. */
const IS_TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth";

describe("in Chromium", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  test.each(rows)(
    "%s fits every window and passes axe, in light and dark colors",
    async (name, { path, shows, broken = [] }) => {
      const page = await browser.newPage({ bypassCSP: true });
      const observed = observe(page, app.url);
      await page.goto(app.url + path());
      await page.locator(shows).first().waitFor();
      await page.evaluate(AXE);
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of WIDTHS) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          await page.setViewportSize({ width, height: 900 });
          expect([colorScheme, width, await page.evaluate(IS_TOO_WIDE)]).toEqual([colorScheme, width, false]);
          const found = (await violations(page)).filter(([rule]) => !broken.includes(rule));
          expect([colorScheme, width, found]).toEqual([colorScheme, width, []]);
        }
      const refused = name === "an error page" ? [expect.stringContaining("404")] : [];
      expect(observed).toEqual({ elsewhere: [], errors: refused, failed: refused });
      await page.close();
    },
  );
});

/** Rules that the page breaks, each with an element. */
const violations = (page: Page): Promise<[rule: string, html: string][]> =>
  page.evaluate(
    `axe.run({ resultTypes: ["violations"] }).then((result) => result.violations.map(({ id, nodes }) => [id, nodes[0].html]))`,
  );

const path = firefoxPath();
if (path === undefined)
  // Listed in the summary of the run. Firefox has no npm package that could replace a missing one, as Chromium has.
  test.todo("views every page in Firefox: apt-get install firefox-esr, or set FIREFOX_PATH");
else
  describe("in Firefox", () => {
    let firefox: Firefox;
    beforeAll(async () => {
      firefox = await Firefox.launch(path, "light");
    });
    afterAll(() => firefox?.close());

    test.each(rows)("%s fits every window", async (name, { path, shows }) => {
      await firefox.resize(360);
      await firefox.open("about:blank");
      await firefox.open(app.url + path());
      await until(() =>
        firefox.evaluate<boolean>(`document.querySelector(${JSON.stringify(shows)}) !== null`),
      );
      for (const width of WIDTHS) {
        await firefox.resize(width);
        expect([width, await firefox.evaluate(IS_TOO_WIDE)]).toEqual([width, false]);
      }
      expect([name, firefox.complaints]).toEqual([name, []]);
    });

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
