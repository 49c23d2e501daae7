import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { WidgetSite, untilIn, type WidgetPage } from "../support/widget-page";

const app = useApp();
const site = new WidgetSite(app);
let assistantId: string;
let widget: WidgetPage;

type Theme = Readonly<Record<string, unknown>>;
/** A value, and what the widget shows for it. */
type Shown = readonly [value: unknown, shown: string];
interface Key {
  /** What the widget shows without a value, and for each invalid value. */
  readonly normal: string;
  readonly valid: readonly Shown[];
  readonly cut?: readonly Shown[];
  readonly invalid: readonly unknown[];
}

const WRONG_TYPES = [5, true, ["x"], { html: "<b>" }];
const LONG = "x".repeat(501);
const BAD_COLORS = [
  ...["blu", "#12", "#12345", "#gggggg", "0f766e", "rgb(1, 2)", "rgb(1, 2 3)", "rgb(1 2 3", "hsl(1, 2, 3)"],
  ...["oklch(a b c)", "var(--x)", "url(https://example.com/a.png)", "red; background: url(x)", "inherit"],
  ...["ButtonFace", "color-mix(in srgb, red, blue)", "red".padEnd(101), LONG, ...WRONG_TYPES],
];

const KEYS: Readonly<Record<string, Key>> = {
  primaryColor: {
    normal: "#4338ca",
    valid: [
      ["#0f766e", "#0f766e"],
      ["#FA0", "#ffaa00"],
      ["#0f766eff", "#0f766e"],
      ["RebeccaPurple", "#663399"],
      [" tomato ", "#ff6347"],
      ["rgb(15, 118, 110)", "#0f766e"],
      ["rgb(15 118 110 / 100%)", "#0f766e"],
      ["rgba(100%, 0%, 0%, 1)", "#ff0000"],
      ["hsl(120deg 100% 25%)", "#008000"],
      ["hsla(120, 100%, 25%, 1)", "#008000"],
      ["hwb(120 0% 50%)", "#008000"],
      ["lab(0 0 0)", "#000000"],
      ["lch(100% 0 40deg)", "#ffffff"],
      ["oklab(1 0 0)", "#ffffff"],
      ["oklch(0% 0 .25turn / 100%)", "#000000"],
    ],
    invalid: BAD_COLORS,
  },
  backgroundColor: { normal: "#ffffff", valid: [["ivory", "#fffff0"]], invalid: BAD_COLORS },
  textColor: { normal: "#11141c", valid: [["#330000", "#330000"]], invalid: BAD_COLORS },
  fontFamily: {
    normal: "ui-sans-serif",
    valid: [
      ["Inter", "Inter, ui-sans-serif"],
      ["Open Sans, Georgia", "Open Sans, Georgia, ui-sans-serif"],
      [`"3270 Nerd", 'Źródło'`, `"3270 Nerd", 'Źródło', ui-sans-serif`],
      ["-apple-system", "-apple-system, ui-sans-serif"],
    ],
    invalid: [
      ...[
        "Inter;",
        "url(x)",
        `"Inter`,
        "Inter,",
        "3270 Nerd",
        "initial",
        "Inter, inherit",
        "a:b",
        "x".repeat(201),
      ],
      ...WRONG_TYPES,
    ],
  },
  position: {
    normal: "right",
    valid: [
      ["left", "left"],
      ["right", "right"],
    ],
    invalid: ["top", "LEFT", ...WRONG_TYPES],
  },
  title: {
    normal: "Ada",
    valid: [["Ask  <b>us</b>", "Ask <b>us</b>"]],
    cut: [["t".repeat(81), "t".repeat(80)]],
    invalid: [LONG, ...WRONG_TYPES],
  },
  subtitle: {
    normal: "",
    valid: [["Here for you", "Here for you"]],
    cut: [["s".repeat(121), "s".repeat(120)]],
    invalid: [LONG, ...WRONG_TYPES],
  },
  avatarUrl: {
    normal: "",
    valid: [["https://example.com/a.png", "https://example.com/a.png"]],
    invalid: [
      ...[
        "http://example.com/a.png",
        "/a.png",
        "//example.com/a.png",
        "javascript:alert(1)",
        "data:image/png,",
      ],
      ...["https://", "https://exa mple.com/a.png", `https://example.com/${LONG}`, ...WRONG_TYPES],
    ],
  },
  launcherText: {
    normal: "",
    valid: [["Ask Ada", "Ask Ada"]],
    cut: [["l".repeat(41), "l".repeat(40)]],
    invalid: [LONG, ...WRONG_TYPES],
  },
  borderRadius: {
    normal: "16px",
    valid: [
      [0, "0px"],
      [28, "28px"],
      [7.5, "7.5px"],
      ["12", "12px"],
      ["4px", "4px"],
    ],
    cut: [
      [29, "28px"],
      ["1000px", "28px"],
    ],
    invalid: [-1, "-1", "12abc", "1rem", "50%", "auto", true, [4], {}],
  },
};

/** The i-th value of each key; keys with fewer values start over. */
const round = (values: (key: Key) => readonly unknown[], index: number): Theme =>
  Object.fromEntries(
    Object.entries(KEYS).flatMap(([name, key]) => {
      const all = values(key);
      return all.length === 0 ? [] : [[name, all[index % all.length]]];
    }),
  );
const rounds = (values: (key: Key) => readonly unknown[]) => {
  const count = Math.max(...Object.values(KEYS).map((key) => values(key).length));
  return Array.from({ length: count }, (_, index) => index);
};

/** Stores a theme through one interface. @returns what both interfaces return */
async function storeTheme(theme: Theme, by: "REST" | "GraphQL"): Promise<unknown[]> {
  const path = `/rest/v1/assistants/${assistantId}/theme`;
  const UPDATE = `mutation ($id: ID!, $theme: JSONObject) {
    updateThemeConfiguration(assistantId: $id, input: { theme: $theme }) { theme } }`;
  const READ = "query ($id: ID!) { assistant(id: $id) { theme { theme } } }";
  const answer =
    by === "REST"
      ? await app.api.patch(path, { theme }, 200)
      : (await app.api.gql(UPDATE, { id: assistantId, theme })).updateThemeConfiguration;
  const { assistant } = await app.api.gql(READ, { id: assistantId });
  return [answer.theme, assistant.theme.theme, (await app.api.get(path, 200)).theme];
}

interface Warning {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}
async function warnings(): Promise<Warning[]> {
  const query = "query ($id: ID!) { assistant(id: $id) { configurationWarnings { path code message } } }";
  const { assistant } = await app.api.gql(query, { id: assistantId });
  const all = assistant.configurationWarnings as Warning[];
  return all.filter(({ path }) => path.startsWith("theme."));
}
const codes = async () => Object.fromEntries((await warnings()).map(({ path, code }) => [path, code]));

/** What the widget shows for each key. */
async function readShown(): Promise<Record<string, string>> {
  await widget.page.reload();
  await widget.launcher.waitFor();
  await untilIn(widget.inside(), "document.querySelector('h1') !== null");
  const inside = (await widget.inside().evaluate(`(() => {
    const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const text = (selector) => document.querySelector(selector)?.textContent ?? "";
    return {
      primaryColor: of("--primary"), backgroundColor: of("--background"), textColor: of("--text"),
      fontFamily: of("--font"), title: text("h1"), subtitle: text("header p"), borderRadius: of("--radius"),
      avatarUrl: document.querySelector(".avatar img")?.src ?? "", used: getComputedStyle(document.body).fontFamily,
    };
  })()`)) as Record<string, string>;
  const { used, ...shown } = inside;
  expect(used!.replaceAll(/["']/g, "")).toBe(shown.fontFamily!.replaceAll(/["']/g, ""));
  const launcher = (await widget.launcher.getAttribute("class")) ?? "";
  return {
    ...shown,
    fontFamily: shown.fontFamily!.split(", system-ui")[0]!,
    position: /left|right/.exec(launcher)?.[0] ?? "",
    launcherText: await widget.launcher.locator(".text").innerText(),
  };
}

const expectedOf = (theme: Theme, pairs: (key: Key) => readonly Shown[]) =>
  Object.fromEntries(
    Object.entries(theme).map(([name, value]) => [
      name,
      pairs(KEYS[name]!).find(([one]) => one === value)![1],
    ]),
  );
const NORMAL = Object.fromEntries(Object.entries(KEYS).map(([name, { normal }]) => [name, normal]));
const by = (index: number) => (index % 2 === 0 ? "REST" : "GraphQL");

beforeAll(async () => {
  await site.start();
  assistantId = await newAssistant(app.api, { name: "Ada" });
  widget = await site.visit({
    attributes: { "assistant-id": assistantId },
    context: { colorScheme: "light" },
  });
  await widget.page.route("https://example.com/**", (route) =>
    route.fulfill({ contentType: "image/svg+xml", body: '<svg xmlns="http://www.w3.org/2000/svg" />' }),
  );
});
afterAll(async () => {
  await site.clear();
  await site.stop();
});

test("the keys tested are those that the widget understands", async () => {
  const theme = Object.fromEntries(
    ["mode", "note", ...Object.keys(KEYS)].map((name) => [name, { no: "value" }]),
  );
  await storeTheme(theme, "REST");
  expect(Object.keys(await codes()).sort()).toEqual(
    Object.keys(KEYS)
      .map((name) => `theme.${name}`)
      .sort(),
  );
});

const invalid = ({ invalid }: Key) => invalid;
describe.each(rounds(invalid))("invalid values, set %#", (index) => {
  test("are stored and returned as sent, ignored by the widget and listed in the warnings", async () => {
    const theme = { ...round(invalid, index), own: { kept: [null, index] } };
    for (const returned of await storeTheme(theme, by(index))) expect(returned).toEqual(theme);
    expect(await codes()).toEqual(
      Object.fromEntries(Object.keys(KEYS).map((name) => [`theme.${name}`, "THEME_VALUE_IGNORED"])),
    );
    for (const { message } of await warnings())
      expect(message).toMatch(/^The value must be .+\. The widget ignores it and shows its default\.$/);
    expect(await readShown()).toEqual(NORMAL);
  });
});

const valid = ({ valid }: Key) => valid.map(([value]) => value);
describe.each(rounds(valid))("valid values, set %#", (index) => {
  test("are shown by the widget without a warning", async () => {
    const theme = round(valid, index);
    for (const returned of await storeTheme(theme, by(index))) expect(returned).toEqual(theme);
    expect(await codes()).toEqual({});
    const shown = await readShown();
    expect(shown).toEqual(expectedOf(theme, ({ valid }) => valid));
  });
});

const cut = ({ cut = [] }: Key) => cut.map(([value]) => value);
describe.each(rounds(cut))("values that are too long or too large, set %#", (index) => {
  test("are cut by the widget and listed in the warnings", async () => {
    const theme = round(cut, index);
    for (const returned of await storeTheme(theme, by(index))) expect(returned).toEqual(theme);
    expect(await codes()).toEqual(
      Object.fromEntries(Object.keys(theme).map((name) => [`theme.${name}`, "THEME_VALUE_CUT"])),
    );
    expect(await readShown()).toEqual({ ...NORMAL, ...expectedOf(theme, ({ cut = [] }) => cut) });
  });
});

test.each([
  ["no keys", {}],
  ["null for each key", Object.fromEntries(Object.keys(KEYS).map((name) => [name, null]))],
  ["an empty text for each key", Object.fromEntries(Object.keys(KEYS).map((name) => [name, ""]))],
])("a theme with %s has the defaults and no warnings", async (_, theme) => {
  await storeTheme(theme, "REST");
  expect(await codes()).toEqual({});
  expect(await readShown()).toEqual(NORMAL);
});
