import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { emptyFolder } from "../support/server";
import { Workplace } from "./folders";

const running = useApp();
let server: Server | undefined;
afterEach(() => void server?.close());

const FIRST = 5;

/** A folder whose server fails at first, in one of two ways, for the requests with some text. */
async function failing(part: string, status: 429 | 503) {
  let failed = 0;
  const keys: string[] = [];
  server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = await request.toArray();
      const body = Buffer.concat(chunks);
      const headers = request.headers as Record<string, string>;
      if (`${request.url} ${body.toString()}`.includes(part)) {
        keys.push(headers["idempotency-key"] ?? "");
        if (failed++ < FIRST) return void response.writeHead(status, { "Retry-After": "0" }).end("{}");
      }
      const { connection: _, host: __, "transfer-encoding": ___, ...sent } = headers;
      const answer = await fetch(`${running.url}${request.url}`, {
        method: request.method!,
        headers: sent,
        ...(request.method === "POST" && { body }),
      });
      const type = { "Content-Type": answer.headers.get("content-type")! };
      response.writeHead(answer.status, { ...type, "Content-Encoding": "gzip" }); // as proxies do
      response.end(gzipSync(Buffer.from(await answer.arrayBuffer())));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const place = new Workplace(emptyFolder(), { url, secretKey: running.secretKey });
  place.write("assistants/a.yaml", `key: k-${randomUUID()}\nname: A\nfiles: [hours.txt]\n`);
  place.write("assistants/hours.txt", `We open at nine: ${randomUUID()}.`);
  return { place, keys };
}

describe("while the server is away", () => {
  test.each<[what: string, part: string, status: 429 | 503, problem: string]>([
    ["its schemas", "/schemas/workflow.json", 503, "failed with status 503."],
    ["a query", "assistants(", 429, "asks to wait (status 429)."],
    ["an upload", "uploadFile", 503, "failed with status 503."],
    ["a mutation", "createAssistant", 429, "asks to wait (status 429)."],
  ])("apply waits and repeats %s, which takes effect once", async (_what, part, status, problem) => {
    const { place, keys } = await failing(part, status);
    const { code, stdout, stderr } = await place.run(["apply", "."]);
    const { url } = place.running;
    expect([code, stderr]).toEqual([
      0,
      `The server at ${url} ${problem} Trying again in 0 s.\n`.repeat(FIRST),
    ]);
    expect(stdout).toContain("k-");
    expect(new Set(keys.slice(0, FIRST + 1)).size).toBe(1);
    expect((await place.run(["diff", "."])).code).toBe(0);
  });

  test.each<[address: string, problem: string]>([
    ["http://127.0.0.1:2", "cannot be reached (ECONNREFUSED)"],
    ["http://parley.invalid", "cannot be reached (ENOTFOUND)"],
    ["https://127.0.0.1:PORT", "cannot be reached (TLS failed; does its address begin with http://?)"],
    ["http://127.0.0.1:PORT", "failed with status 502"],
  ])("each command stops after the longest wait and names %s, but not the key", async (address, problem) => {
    server = createServer((_, response) => response.writeHead(502).end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = address.replace("PORT", String((server.address() as AddressInfo).port));
    const place = new Workplace(emptyFolder(), { url: `${url}/path/`, secretKey: running.secretKey });
    for (const command of ["pull", "diff", "apply", "validate"]) {
      const { code, stderr } = await place.run([command, ".", "--wait", "0"]);
      expect([code, stderr]).toEqual([1, `The server at ${url} ${problem}, also after 0 s.\n`]);
    }
  });

  test("an address may end with slashes, and has neither a query nor a fragment", async () => {
    const at = (url: string) => new Workplace(emptyFolder(), { url, secretKey: running.secretKey });
    expect((await at(`${running.url.toUpperCase()}//`).run(["pull", "."])).code).toBe(0);
    for (const end of ["/?a=1", "#a"]) {
      const { code, stderr } = await at(running.url + end).run(["pull", "."]);
      const address = running.url + end.split(/[?#]/)[0]!;
      expect([code, stderr.split("\n")[0]]).toEqual([
        1,
        `PARLEY_URL must not contain ? or #: PARLEY_URL=${address}`,
      ]);
    }
  });

  test("an address with a password is refused, and not printed", async () => {
    const url = "http://user:pass-word@127.0.0.1:2";
    const place = new Workplace(emptyFolder(), { url, secretKey: running.secretKey });
    expect(await place.run(["pull", "."])).toEqual({
      code: 1,
      stdout: "",
      stderr: "PARLEY_URL must not contain a user name or a password.\n",
    });
  });

  test.each(["soon", "-1", "-soon"])("the longest wait is a number of seconds, and not %s", async (wait) => {
    const { code, stderr } = await new Workplace(emptyFolder(), running).run(["diff", "--wait", wait]);
    const message = `--wait must be a whole number of seconds; got "${wait}".\nUsage: parley diff `;
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`^${message}`))]);
  });

  test("an option without its value is named", async () => {
    const { code, stderr } = await new Workplace(emptyFolder(), running).run(["diff", "--wait", "--prune"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Option '--wait' argument missing\.\nUsage: /),
    ]);
  });
});
