import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { useApp } from "../support/app";
import { launchBrowser, observe } from "../support/browser";
import { newAssistant } from "../support/factories";
import { Firefox, firefoxPath } from "../support/firefox";
import { LONG } from "../support/suite";
import { until } from "../support/until";

jest.setTimeout(120_000);

const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [360, 768, 1440];
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
  /** Opens what the page hides at first. */
  readonly open?: (page: Page) => Promise<void>;
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
  },
  "the playground with an answer and the schema": {
    path: () => "/graphql",
    shows: ".graphiql-editor .view-line",
    open: async (page) => {
      await page.getByLabel("API key").fill(app.secretKey);
      await page.getByRole("button", { name: "Use key" }).click();
      await page.getByRole("button", { name: /^Execute query/ }).click();
      await page.locator(".result-window .view-line", { hasText: "assistants" }).waitFor();
      await page.getByLabel("Show Documentation Explorer").click();
      await page.locator(".graphiql-doc-explorer-type-name").first().waitFor();
    },
  },
  "the REST documentation": { path: () => "/rest/docs", shows: ".opblock" },
  "the REST documentation with an operation": {
    path: () => "/rest/docs#/Chats/startChat",
    shows: ".opblock.is-open .execute",
  },
  "the REST documentation with its keys": {
    path: () => "/rest/docs",
    shows: ".opblock",
    open: (page) => page.getByRole("button", { name: "Authorize", exact: true }).click(),
  },
  "analytics without a link": { path: () => "/analytics", shows: "h1" },
  analytics: { path: () => analytics, shows: "h1" },
  "the widget's demo": { path: () => `/widget/demo?assistantId=${assistantId}`, shows: "iframe" },
};
const rows = Object.entries(PAGES);

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
    async (name, { path, shows, open }) => {
      const page = await browser.newPage({ bypassCSP: true });
      const observed = observe(page, app.url);
      await page.goto(app.url + path());
      await page.locator(shows).first().waitFor();
      await open?.(page);
      await page.evaluate(AXE);
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of WIDTHS) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          await page.setViewportSize({ width, height: 900 });
          expect([colorScheme, width, await page.evaluate(IS_TOO_WIDE)]).toEqual([colorScheme, width, false]);
          const broken = await violations(page, rulesFor(colorScheme, width));
          expect([colorScheme, width, broken]).toEqual([colorScheme, width, []]);
        }
      const refused = name === "an error page" ? [expect.stringContaining("404")] : [];
      expect(observed).toEqual({ elsewhere: [], errors: refused, failed: refused });
      await page.close();
    },
  );
});

/** Options for axe: only the check of contrast depends on the colors; all other rules run once per width. */
function rulesFor(colorScheme: "light" | "dark", width: number): object {
  if (LONG || (colorScheme === "light" && width === WIDTHS.at(-1))) return {};
  const rules = { "color-contrast": { enabled: false } };
  return colorScheme === "light" ? { rules } : { runOnly: ["color-contrast"] };
}

/** Rules that the page breaks, each with an element. */
const violations = (page: Page, rules: object): Promise<[rule: string, html: string][]> =>
  page.evaluate(
    `axe.run(${JSON.stringify({ resultTypes: ["violations"], ...rules })}).then((result) => result.violations.map(({ id, nodes }) => [id, nodes[0].html]))`,
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

    test("every page is dark if the system is", async () => {
      const dark = await Firefox.launch(path, "dark");
      const brightness: Record<string, number> = {};
      try {
        for (const [name, { path, shows }] of rows.filter(([, { open }]) => !open)) {
          await dark.open("about:blank"); // because only the fragment may differ
          await dark.open(app.url + path());
          await until(() =>
            dark.evaluate<boolean>(`document.querySelector(${JSON.stringify(shows)}) !== null`),
          );
          brightness[name] = await dark.evaluate<number>(BRIGHTNESS);
        }
      } finally {
        await dark.close();
      }
      expect(Object.entries(brightness).filter(([, value]) => value > MAX_DARK_BRIGHTNESS)).toEqual([]);
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
