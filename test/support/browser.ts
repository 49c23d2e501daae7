import "./disposable";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium, type Browser, type Page } from "playwright-core";

const INSTALLED = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const NOT_FOUND =
  "No browser for these tests: apt-get install chromium-headless-shell (or chromium), or set CHROMIUM_PATH to one.";

const QUIET = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

interface Executable {
  path: string;
  env?: Record<string, string>;
}

/**
 * The Chromium of @sparticuz/chromium, for Linux on x64, unpacked once. If AWS_EXECUTION_ENV is set, the package also
 * unpacks libraries that a bare container lacks. The package is an ES module, which jest can't import, so a process
 * runs it.
 */
async function unpacked(): Promise<Executable | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const folder = join(__dirname, "../../node_modules/.cache/parley-chromium");
  if (!existsSync(folder)) {
    const unfinished = `${folder}.${process.pid}`;
    await mkdir(unfinished, { recursive: true });
    const script = `import chromium from "@sparticuz/chromium"; await chromium.executablePath()`;
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: __dirname,
      env: { ...process.env, TMPDIR: unfinished, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x" },
    });
    // The package's own file looks for its fonts in /tmp; without any font, Chromium dies.
    const fonts = `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`;
    await writeFile(join(unfinished, "fonts.conf"), fonts);
    // Another test file may have unpacked it first.
    await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
  }
  return {
    path: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "al2023/lib"), FONTCONFIG_FILE: join(folder, "fonts.conf") },
  };
}

/** Executables to try in order. The headless shell precedes Chromium, which needs four times the work for a page. */
async function* executables(): AsyncGenerator<Executable> {
  const named = process.env.CHROMIUM_PATH;
  if (named && !existsSync(named)) throw new Error(`CHROMIUM_PATH names ${named}, which does not exist.`);
  if (named) return yield { path: named };
  for (const path of INSTALLED) if (existsSync(path)) yield { path };
  const own = await unpacked().catch(() => undefined);
  if (own) yield own;
}

/** Launches a headless Chromium: that of CHROMIUM_PATH, else an installed one, else that of the npm package. */
export async function launchBrowser(): Promise<Browser> {
  let cause: unknown;
  for await (const { path, env } of executables())
    try {
      return await chromium.launch({
        executablePath: path,
        args: [...QUIET, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
        env: { ...process.env, ...env },
      });
    } catch (error) {
      cause = error;
    }
  throw new Error(NOT_FOUND, { cause });
}

export interface PageActivity {
  /** Requested addresses outside the server. */
  readonly elsewhere: readonly string[];
  /** Errors and warnings on the console, including policy violations and uncaught exceptions. */
  readonly errors: readonly string[];
  /** Paths on the server that answered with status 400 or above. */
  readonly failed: readonly string[];
}

/** Records the requests and errors of a page, including its workers and sockets. Call it before the page is opened. */
export function observe(page: Page, serverUrl: string): PageActivity {
  const { host } = new URL(serverUrl);
  const elsewhere: string[] = [];
  const errors: string[] = [];
  const failed: string[] = [];
  const visit = (address: string) => {
    const url = new URL(address);
    if (!["data:", "blob:", "about:"].includes(url.protocol) && url.host !== host) elsewhere.push(address);
  };
  page.on("request", (request) => visit(request.url()));
  page.on("websocket", (socket) => visit(socket.url()));
  page.on("response", (response) => {
    if (response.status() >= 400) failed.push(`${response.status()} ${new URL(response.url()).pathname}`);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  return { elsewhere, errors, failed };
}

/** Takes the clipboard from a page, as browsers do without HTTPS. A script to add before the page is opened. */
export const WITHOUT_CLIPBOARD = `Object.defineProperty(navigator, "clipboard", { value: undefined })`;

/** Reads the clipboard by pasting it into a field of one line. */
export async function pasted(page: Page, field: string): Promise<string> {
  await page.focus(field);
  await page.keyboard.press("Control+V");
  return page.inputValue(field);
}
