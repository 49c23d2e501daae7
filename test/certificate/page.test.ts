import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import express, { type ErrorRequestHandler } from "express";
import pino from "pino";
import { routes } from "../../rest-compat/routes/index";
import { identify } from "../../src/http/answers/answer-headers";
import { certificatePages, type Certificate } from "../../src/http/pages/certificate";
import { errorSender } from "../../src/http/errors/send-error";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import { Api } from "../support/api";
import { expectError } from "../support/errors";
import { certificateOf } from "./compose";

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const folder = mkdtempSync(join(tmpdir(), "parley-certificate-"));
const file = join(folder, "certificate.json");
const row = {
  ...{ row: "getAssistant", request: "GET /rest/v1/assistants/:id", counterpart: "assistant", cases: 9 },
  ...{ values: 2, errors: 7, changes: [], documented: [] },
};
const operation = {
  operation: "project",
  kind: "query",
  rows: [],
  checked: "6 fields",
  changes: [],
} as const;
const good = certificateOf({
  rows: [{ ...row, differences: [] }],
  operations: [{ ...operation, differences: [] }],
  deliveries: { deliveries: 3, differences: [] },
});

let server: Server;
let api: Api;
beforeAll(async () => {
  const sendError = errorSender(pino({ level: "silent" }));
  const failed: ErrorRequestHandler = (error, _req, res, _next) => sendError(res, error);
  server = createServer(express().use(identify, certificatePages(file, schema, routes), failed));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  api = new Api(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});
beforeEach(() => rmSync(file, { force: true }));

const write = (certificate: Certificate) => writeFileSync(file, JSON.stringify(certificate));
const html = async () => (await api.request("GET", "/certificate", undefined, { Accept: "text/html" })).text;

test("a build without a certificate answers 404 and names the command that makes one", async () => {
  for (const path of ["/certificate", "/certificate.json"]) {
    const answer = await api.request("GET", path);
    expectError(answer, 404, "NOT_FOUND");
    expect(answer.body.message).toContain("npm run certificate");
  }
});

test("programs get the certificate as JSON, people as a page", async () => {
  write(good);
  const expected = { ...(JSON.parse(JSON.stringify(good)) as object), ofThisBuild: true };
  expect(await api.get("/certificate", 200)).toEqual(expected);
  expect(await api.get("/certificate.json", 200)).toEqual(expected);
  const page = await html();
  for (const part of ["Both interfaces agree.", "are the certified ones", row.request, "assistant: 9 cases"])
    expect(page).toContain(part);
});

test.each(["schema", "routes"] as const)(
  "a certificate with another digest of %s is shown as not its own",
  async (name) => {
    write({ ...good, digests: { ...good.digests, [name]: "0" } });
    expect(await api.get("/certificate.json", 200)).toMatchObject({ ofThisBuild: false });
    expect(await html()).toContain("This certificate is not of this server");
  },
);

test("differences are counted and listed, without being HTML", async () => {
  const differences = ["valid: value.name: <b>, and nothing"];
  write(certificateOf({ ...good, rows: [{ ...row, differences }], operations: [] } as never));
  const page = await html();
  expect(page).toContain("The interfaces differ in 1 place.");
  expect(page).toContain("value.name: &lt;b&gt;, and nothing");
});
