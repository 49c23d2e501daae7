import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { WebSocket } from "ws";
import { until } from "./until";

const INSTALLED = ["/usr/bin/firefox-esr", "/usr/bin/firefox"];

/** Path of Firefox: FIREFOX_PATH, or one that is installed. */
export const firefoxPath = (): string | undefined =>
  [process.env.FIREFOX_PATH ?? "", ...INSTALLED].find((path) => path !== "" && existsSync(path));

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly message?: string;
  readonly params?: { readonly level: string; readonly text: string };
}
interface Evaluated {
  readonly result?: { readonly value: string };
  readonly exceptionDetails?: { readonly text: string };
}
interface Tree {
  readonly contexts: readonly {
    readonly context: string;
    readonly children: readonly { context: string; url: string }[];
  }[];
}

/** A headless Firefox with one tab, controlled by WebDriver BiDi. */
export class Firefox {
  /** Errors and warnings on the console of the page that is open. */
  readonly complaints: string[] = [];
  private readonly waiting = new Map<number, (reply: Reply) => void>();
  private commands = 0;
  private tab = "";

  private constructor(
    private readonly process: ChildProcess,
    private readonly profile: string,
    private readonly socket: WebSocket,
  ) {
    socket.on("message", (data: Buffer) => this.receive(JSON.parse(data.toString()) as Reply));
  }

  static async launch(path: string, colorScheme: "light" | "dark"): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), "parley-firefox-"));
    const scheme = colorScheme === "dark" ? 0 : 1;
    writeFileSync(
      join(profile, "user.js"),
      `user_pref("layout.css.prefers-color-scheme.content-override", ${scheme});\n`,
    );
    const options = ["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile];
    const child = spawn(path, options, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, HOME: profile },
    });
    const firefox = new Firefox(child, profile, new WebSocket(`${await addressOf(child)}/session`));
    await once(firefox.socket, "open");
    await firefox.send("session.new", { capabilities: {} });
    await firefox.send("session.subscribe", { events: ["log.entryAdded"] });
    const { context } = (await firefox.send("browsingContext.create", { type: "tab" })) as {
      context: string;
    };
    firefox.tab = context;
    return firefox;
  }

  /** Opens a page and waits until everything that it contains is loaded. */
  async open(url: string): Promise<void> {
    this.complaints.length = 0;
    await this.send("browsingContext.navigate", { context: this.tab, url, wait: "complete" });
  }

  resize(width: number, height = 900): Promise<unknown> {
    return this.send("browsingContext.setViewport", { context: this.tab, viewport: { width, height } });
  }

  /** Value of an expression as JSON. @param within part of the address of a frame; default: the page itself */
  async evaluate<T>(expression: string, within?: string): Promise<T> {
    const context = within === undefined ? this.tab : await this.frame(within);
    const answer = (await this.send("script.evaluate", {
      expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
      target: { context },
      awaitPromise: true,
    })) as Evaluated;
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.text);
    return JSON.parse(answer.result!.value) as T;
  }

  /** A screenshot of the page, as PNG. */
  async screenshot(): Promise<Buffer> {
    const answer = await this.send("browsingContext.captureScreenshot", { context: this.tab });
    return Buffer.from((answer as { data: string }).data, "base64");
  }

  async close(): Promise<void> {
    const ended = once(this.process, "exit");
    this.process.kill("SIGTERM");
    await ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  private frame(within: string): Promise<string> {
    return until(async () => {
      const { contexts } = (await this.send("browsingContext.getTree", { root: this.tab })) as Tree;
      return contexts[0]!.children.find(({ url }) => url.includes(within))?.context;
    });
  }

  private send(method: string, params: object): Promise<unknown> {
    const id = ++this.commands;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ result, message }) =>
        result === undefined ? reject(new Error(`${method}: ${message}`)) : resolve(result),
      );
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  private receive(reply: Reply): void {
    if (reply.method === "log.entryAdded" && ["error", "warn"].includes(reply.params!.level))
      this.complaints.push(reply.params!.text);
    if (reply.id === undefined) return;
    this.waiting.get(reply.id)?.(reply);
    this.waiting.delete(reply.id);
  }
}

/** The address that Firefox prints when it is ready. */
async function addressOf({ stderr }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stderr! })) {
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
    if (address !== undefined) {
      stderr!.resume(); // so that Firefox can go on writing
      return address;
    }
  }
  throw new Error("Firefox ended before it was ready.");
}
