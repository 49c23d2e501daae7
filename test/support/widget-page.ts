import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Frame,
  FrameLocator,
  Locator,
  Page,
} from "playwright-core";
import type { RunningApp } from "./app";
import { launchBrowser } from "./browser";
import { newAssistant } from "./factories";
import { until } from "./until";
import { answeredBy } from "./sms";
import { stubModel, type Reply } from "./stub-model";

/** A page to visit, with its use of the widget. */
export interface Visit {
  /** Attributes of the script tag, without `data-`. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Position of the script; `body` means the end of the body. */
  readonly place?: "head" | "body" | "none";
  /** Other HTML of the page, before the script. */
  readonly html?: string;
  /** Headers of the page, such as its policy. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Script that runs first, in the page and in all its frames. */
  readonly before?: string;
  readonly context?: BrowserContextOptions | BrowserContext;
}

/** A page with the widget, and its console output. */
export interface WidgetPage {
  readonly page: Page;
  readonly launcher: Locator;
  readonly frame: FrameLocator;
  readonly box: Locator;
  /** Errors and warnings on the console, and uncaught exceptions. */
  readonly complaints: string[];
  /** Hosts that received a request. */
  readonly hosts: Set<string>;
  /** The frame of the widget. */
  inside(): Frame;
  open(): Promise<void>;
  say(words: string): Promise<void>;
  /** Waits for a message of the assistant with these words. */
  hears(words: string | RegExp): Promise<void>;
}

/** A site on another origin than the service, whose pages contain the widget, and a browser that visits them. */
export class WidgetSite {
  private server!: Server;
  private browser!: Browser;
  private readonly pages = new Map<string, { html: string; headers: Readonly<Record<string, string>> }>();
  private readonly opened: BrowserContext[] = [];
  private readonly ending: (() => unknown)[] = [];

  constructor(private readonly app: RunningApp) {}

  async start(): Promise<void> {
    this.browser = await launchBrowser();
    this.server = createServer((request, response) => {
      if (request.url === "/favicon.ico") return void response.writeHead(204).end();
      const { html, headers } = this.pages.get(request.url ?? "") ?? { html: "", headers: {} };
      response
        .writeHead(html === "" ? 404 : 200, { "Content-Type": "text/html; charset=utf-8", ...headers })
        .end(html);
    }).listen(0, "127.0.0.1");
    await once(this.server, "listening");
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    this.server?.close();
  }

  /** Closes the pages that a test opened. */
  async clear(): Promise<void> {
    for (const context of this.opened.splice(0)) await context.close();
    for (const end of this.ending.splice(0)) await end();
  }

  /** URL of the pages; another port makes another origin. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Creates an assistant with these configurations. @returns its id */
  async assistant({ theme, chat, voice, ...body }: Record<string, object | string> = {}): Promise<string> {
    const { api } = this.app;
    const id = await newAssistant(api, { name: "Ada", ...body });
    const parts = { theme: theme && { theme }, chat, voice };
    for (const [part, changes] of Object.entries(parts))
      if (changes !== undefined) await api.patch(`/rest/v1/assistants/${id}/${part}`, changes, 200);
    return id;
  }

  /** Makes a model with these replies answer until the end of the test. */
  async model(...replies: Reply[]): Promise<Awaited<ReturnType<typeof stubModel>>> {
    const model = await stubModel(...replies);
    this.ending.push(() => model.stop());
    await answeredBy(this.app, model);
    return model;
  }

  script(attributes: Readonly<Record<string, string>>): string {
    const all = { "public-key": this.app.publicKey, ...attributes };
    const data = Object.entries(all).map(
      ([name, value]) => `data-${name}="${value.replaceAll('"', "&quot;")}"`,
    );
    return `<script id="companion-widget-script" src="${this.app.url}/widget/companion-widget.js" ${data.join(" ")}></script>`;
  }

  async context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    // Without animations, a click cannot miss.
    const still = { viewport: { width: 1100, height: 800 }, reducedMotion: "reduce" } as const;
    const context = await this.browser.newContext({ ...still, ...options });
    this.opened.push(context);
    return context;
  }

  /** Adds a page at a path of this site. */
  put(path: string, { attributes = {}, place = "body", html = "", headers = {} }: Visit): string {
    const script = this.script(attributes);
    const [head, end] = [place === "head" ? script : "", place === "body" ? script : ""];
    const page = `<!doctype html><html lang="en"><head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><title>A shop</title>${head}</head><body><main><h1>A shop</h1>${html}</main>${end}</body></html>`;
    this.pages.set(path, { html: page, headers });
    return this.url + path;
  }

  /** Opens a page with the widget on it. */
  async visit(visit: Visit): Promise<WidgetPage> {
    const { context: wanted } = visit;
    const context = wanted && "newPage" in wanted ? wanted : await this.context(wanted);
    const page = await context.newPage();
    if (visit.before !== undefined) await page.addInitScript(visit.before);
    const shown = widgetOn(page);
    await page.goto(this.put(`/page-${this.pages.size}`, visit));
    return shown;
  }

  /** A page of the service itself. */
  async open(path: string, context?: BrowserContextOptions, before?: string): Promise<WidgetPage> {
    const page = await (await this.context(context)).newPage();
    if (before !== undefined) await page.addInitScript(before);
    const shown = widgetOn(page);
    await page.goto(path.startsWith("http") ? path : this.app.url + path);
    return shown;
  }
}

/** Waits until an expression is true in a document whose policy prevents playwright's own waiting. */
export const untilIn = (place: Page | Frame, expression: string): Promise<void> =>
  until(async () => (await place.evaluate(expression)) === true);

function widgetOn(page: Page): WidgetPage {
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  const frame = page.frameLocator("iframe");
  const launcher = page.locator("#companion-widget button");
  const box = frame.getByRole("textbox");
  return {
    page,
    launcher,
    frame,
    box,
    complaints,
    hosts,
    inside: () => page.frames().find((inner) => inner.url().includes("/widget/frame"))!, // the page has it by now
    open: async () => {
      await launcher.waitFor(); // after a reload it may be open already
      if ((await launcher.getAttribute("aria-expanded")) !== "true") await launcher.click();
      await box.waitFor();
    },
    say: async (words) => {
      await box.fill(words);
      await box.press("Enter");
    },
    hears: (words) => frame.locator(".theirs.stored", { hasText: words }).last().waitFor(),
  };
}
