import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { ACCEPTED, accepting, decoded } from "../support/encodings";
import { closeRaw, rawRequest } from "../support/raw";
import { WidgetSite } from "../support/widget-page";

const PUBLIC_DIR = join(__dirname, "../../dist/public");
const KB = 1000;
/** Folders of assets by their address. */
const ASSETS = {
  "/assets/explorer": "explorer",
  "/assets/docs": "docs",
  "/assets/analytics": "analytics",
  "/docs/assets": "documentation/assets",
  "/widget/assets": "widget/assets",
};
const IMMUTABLE = "public, max-age=31536000, immutable";

const app = useApp({ WORKER: "on" });
afterAll(closeRaw);

const ask = (path: string, encodings?: string, headers: Record<string, string> = {}, method = "GET") =>
  rawRequest(app.url, { method, path, headers: { ...accepting(encodings), ...headers } });

/** Paths of all assets over HTTP, with their contents. */
const assets = Object.entries(ASSETS).flatMap(([address, folder]) => {
  const root = join(PUBLIC_DIR, folder);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => [`${address}/${relative(root, file)}`, file] as const);
});
/** A compressed asset of each type. */
const samples = [".js", ".css", ".json", ".txt"].map((type) =>
  assets.find(([path, file]) => path.endsWith(type) && readFileSync(file).length > 1024)!,
);

describe.each([
  ...samples,
  ["/widget/companion-widget.js", join(PUBLIC_DIR, "widget/companion-widget.js")] as const,
  ["/docs/widget", join(PUBLIC_DIR, "documentation/widget.html")] as const,
])("%s", (path, file) => {
  test.each(ACCEPTED)("comes in the encoding that the client accepts: %s", async (encodings, chosen) => {
    const answer = await ask(path, encodings);
    expect([answer.status, answer.headers["content-encoding"]]).toEqual([200, chosen]);
    expect(answer.headers.vary).toMatch(/\bAccept-Encoding\b/);
    expect(Number(answer.headers["content-length"])).toBe(answer.bytes.length);
    expect(decoded(answer).equals(readFileSync(file))).toBe(true);
  });

  test.each(["br", "gzip", "identity"])("is revalidated, read in part and by HEAD: %s", async (encoding) => {
    const { headers, bytes } = await ask(path, encoding);
    const again = await ask(path, encoding, { "If-None-Match": headers.etag! });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    const part = await ask(path, encoding, { Range: "bytes=100-199" });
    expect([part.status, part.bytes]).toEqual([206, bytes.subarray(100, 200)]);
    const head = await ask(path, encoding, {}, "HEAD");
    expect([head.status, head.bytes.length, head.headers["content-length"], head.headers.etag]).toEqual([
      200,
      0,
      headers["content-length"],
      headers.etag,
    ]);
    const beyond = await ask(path, encoding, { Range: "bytes=99999999-" });
    expect([beyond.status, beyond.headers["content-encoding"]]).toEqual([416, undefined]);
  });
});

test("every asset is served completely and cached forever, and long texts are at most half as long", async () => {
  expect(assets.length).toBeGreaterThan(30);
  for (const [path, file] of assets) {
    const content = readFileSync(file);
    const answer = await ask(path, "br");
    expect([path, answer.status, answer.headers["cache-control"]]).toEqual([path, 200, IMMUTABLE]);
    expect([path, decoded(answer).equals(content)]).toEqual([path, true]);
    const isText = !path.endsWith(".png") && content.length >= 1024;
    expect([path, answer.headers["content-encoding"]]).toEqual([path, isText ? "br" : undefined]);
  }
});

/** Addresses within the service that a page loads by itself. */
const loadedBy = (page: string, html: string) =>
  [...html.matchAll(/<(?:link|script|img)\b[^>]*?(?:href|src)="([^"]+)"/g)].map(
    ([, address]) => new URL(address!, app.url + page).pathname,
  );

async function download(page: string, encoding: string): Promise<{ bytes: number; loaded: string[] }> {
  const html = await ask(page, encoding, { Accept: "text/html" });
  const loaded = loadedBy(page, decoded(html).toString());
  let bytes = html.bytes.length;
  for (const path of loaded) {
    const answer = await ask(path, encoding);
    expect([page, path, answer.status]).toEqual([page, path, 200]);
    bytes += answer.bytes.length;
  }
  return { bytes, loaded };
}

test.each(["br", "gzip"])(
  "the landing page and each page of the documentation have at most 200 kB: %s",
  async (encoding) => {
    const index = decoded(await ask("/docs")).toString();
    const pages = new Set([...index.matchAll(/href="(\/docs\/[a-z-]+)"/g)].map(([, path]) => path!));
    expect(pages.size).toBeGreaterThan(20);
    for (const page of ["/", "/docs", ...pages]) {
      const { bytes } = await download(page, encoding);
      expect([page, bytes < 200 * KB]).toEqual([page, true]);
    }
  },
);

test.each([
  "/graphql",
  "/rest/docs",
  "/analytics",
  "/widget/frame",
  "/widget/voice",
  "/widget/demo",
  "/docs",
])("%s is revalidated, and loads only assets of its version", async (page) => {
  const { headers } = await ask(page, "br", { Accept: "text/html" });
  expect(headers["cache-control"]).toBe(page === "/widget/demo" ? "no-store" : "no-cache");
  const { loaded } = await download(page, "br");
  const own = loaded.filter((path) => path !== "/favicon.ico");
  expect(own.length).toBeGreaterThan(1);
  for (const path of own) expect((await ask(path)).headers["cache-control"]).toBe(IMMUTABLE);
});

describe("a visitor of a web page with the widget", () => {
  const site = new WidgetSite(app);
  beforeAll(() => site.start());
  afterAll(() => site.stop());

  test("downloads at most 70 kB to open it, hold a conversation and come back", async () => {
    const assistantId = await site.assistant({ chat: { initialMessage: "Hello." } });
    const context = await site.context();
    const sizes = new Map<string, number>();
    context.on("requestfinished", (request) => {
      if (!request.url().startsWith(app.url)) return;
      void request.sizes().then(
        ({ responseBodySize, responseHeadersSize }) => {
          const path = new URL(request.url()).pathname;
          sizes.set(path, (sizes.get(path) ?? 0) + responseBodySize + responseHeadersSize);
        },
        () => undefined, // a request that ended when the browser was closed
      );
    });
    const { page, open, hears, say } = await site.visit({
      attributes: { "assistant-id": assistantId },
      context,
    });
    await open();
    await hears("Hello.");
    await say("When do you open?");
    await hears(/./);
    await page.reload();
    await hears(/./);
    expect([...sizes.keys()]).toEqual(
      expect.arrayContaining(["/widget/companion-widget.js", "/widget/frame", "/graphql"]),
    );
    const sum = [...sizes.values()].reduce((total, size) => total + size, 0);
    expect([sum < 70 * KB, sum > 40 * KB, Object.fromEntries(sizes)]).toEqual([
      true,
      true,
      expect.anything(),
    ]);
  });
});

describe("an asset of another version", () => {
  const OTHER = "0123456789abcdef";
  const [path, file] = assets.find(([path]) => path.endsWith("/frame.js"))!;

  test.each(["an earlier version", "a version without versions"])(
    "is answered by that of this one, uncached, for a page of %s",
    async (which) => {
      const version = which === "an earlier version" ? `/${OTHER}/` : "/";
      const answer = await ask(path.replace(/\/[0-9a-f]{16}\//, version), "br");
      expect([answer.status, answer.headers["cache-control"]]).toEqual([200, "no-store"]);
      expect(decoded(answer).equals(readFileSync(file))).toBe(true);
    },
  );

  test.each([
    `/widget/assets/${OTHER}/unknown.js`,
    "/widget/assets/unknown.js",
    "/widget/assets/",
    "/widget/assets/../frame.html",
    "/widget/assets/..%2fframe.html",
    `/widget/assets/${OTHER}/../../frame.html`,
    "/widget/assets/%00",
    "/widget/assets/%E0%A4%A",
  ])("is not found if this one has none: %s", async (unknown) => {
    expect((await ask(unknown)).status).toBeGreaterThanOrEqual(400);
  });
});
