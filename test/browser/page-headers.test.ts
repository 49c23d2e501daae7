import express from "express";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { explorer, pages } from "../../src/http/pages/pages";

/** Folder of assets, as the build names it. */
const VERSION = "0123456789abcdef";
let publicDir: string;
let server: Server;
let url: string;

beforeAll(async () => {
  publicDir = await mkdtemp(join(tmpdir(), "parley-pages-"));
  const app = express();
  app.get("/graphql", explorer({ publicDir }));
  app.use(pages({ publicDir }));
  app.use((_request, response) => void response.status(418).send("the API"));
  server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A listening TCP server has an address of this form.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await rm(publicDir, { recursive: true });
});

const get = (path: string, accept = "text/html,application/xhtml+xml,*/*;q=0.8") =>
  fetch(url + path, { headers: { Accept: accept } });

describe("if the pages are not built", () => {
  test.each(["/graphql", "/docs", "/rest/docs", "/analytics", "/favicon.ico"])(
    "%s says how to build them",
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(503);
      expect(response.headers.get("content-type")).toMatch("text/plain");
      expect(await response.text()).toMatch("npm run build");
    },
  );
});

describe("if the pages are built", () => {
  beforeAll(async () => {
    for (const folder of ["pages", `explorer/${VERSION}`, "docs", "documentation"])
      await mkdir(join(publicDir, folder), { recursive: true });
    for (const file of [
      "favicon.svg",
      `explorer/${VERSION}/explorer.js`,
      "pages/explorer.html",
      "pages/docs.html",
      "pages/analytics.html",
      "documentation/index.html",
      "documentation/widget.html",
    ])
      await writeFile(join(publicDir, file), "built");
  });

  test.each(["/graphql", "/docs", "/docs/widget", "/rest/docs", "/analytics"])(
    "%s runs only our scripts and cannot be framed",
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(200);
      const policy = response.headers.get("content-security-policy")!.split("; ");
      expect(policy).toEqual(expect.arrayContaining(["script-src 'self'", "frame-ancestors 'none'"]));
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    },
  );

  test("serves a favicon", async () => {
    const response = await get("/favicon.ico");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
  });

  test.each([
    ["a query in the address", "/graphql?query={__typename}", "text/html"],
    ["a client that accepts any type", "/graphql", "*/*"],
    ["a client that asks for JSON", "/graphql", "application/json"],
  ])("serves the API instead of the explorer to %s", async (_who, path, accept) => {
    const response = await get(path, accept);
    expect(response.status).toBe(418);
    expect(response.headers.get("vary")).toBe("Accept");
  });

  test("caches assets forever and revalidates pages", async () => {
    const asset = await get(`/assets/explorer/${VERSION}/explorer.js`);
    expect(asset.headers.get("cache-control")).toMatch("immutable");
    expect(asset.headers.get("x-content-type-options")).toBe("nosniff");
    const page = await get("/docs");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const again = await fetch(`${url}/docs`, {
      // Node's fetch adds `Cache-Control: no-cache` by itself, which asks for the whole file.
      headers: { "If-None-Match": page.headers.get("etag")!, "Cache-Control": "max-age=0" },
    });
    expect(again.status).toBe(304);
  });

  test.each(["/assets/explorer/missing.js", "/assets/explorer/..%2fpages%2fdocs.html", "/assets/docs/"])(
    "answers 404 in JSON for %s",
    async (path) => expect((await get(path)).status).not.toBe(200),
  );
});
