import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import ts from "typescript";
import { signatureHeaders } from "../../src/events/webhooks/signatures";
import { freePort } from "../support/free-port";

import { until } from "../support/until";

const BODY = '{"event":"session-start"}';
const GUIDE = readFileSync("docs/webhooks.md", "utf8");

describe("in docs/webhooks.md the", () => {
  const VECTORS = GUIDE.match(/^\| `\{.*$/gm)!.map((row) =>
    [...row.matchAll(/`([^`]+)`/g)].map(([, cell]) => cell!),
  );

  test.each(VECTORS)(
    "example of a signature matches the one that is sent: %s",
    (body, secret, name, ...rest) => {
      const [id = "id", time = "1", signature] =
        rest.length > 1 ? rest.slice(-3) : [undefined, undefined, rest[0]];
      expect(signatureHeaders(id, body!, [secret!], Number(time))[name!]).toBe(signature);
    },
  );

  test("verification function accepts the sent signature, and no other", () => {
    const [, kit = ""] = /```ts\n([^`]*export function verify[^`]*)```/.exec(GUIDE)!;
    const { outputText } = ts.transpileModule(kit, { compilerOptions: { module: ts.ModuleKind.CommonJS } });
    const made: { verify?: (body: string, signature: string, secret: string) => boolean } = {};
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- what readers are told to copy is run
    new Function("exports", "require", outputText)(made, createRequire(__filename));
    const { "x-signature": signature } = signatureHeaders("id", BODY, ["s"], 1);
    expect(made.verify!(BODY, signature!, "s")).toBe(true);
    for (const [body, given, secret] of [
      [`${BODY} `, signature!, "s"],
      [BODY, signature!, "another"],
      [BODY, signature!.replace(/./, "g"), "s"],
      [BODY, "", "s"],
      [BODY, "é".repeat(64), "s"],
      [BODY, `${signature}00`, "s"],
    ] as const)
      expect(made.verify!(body, given, secret)).toBe(false);
  });
});

describe("the receiver in docs/webhooks.md", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-receiver-"));
  let receiver: ChildProcess;
  let port = 0;
  let printed = "";
  beforeAll(async () => {
    const [, code = ""] = /```ts\n([^`]*createServer[^`]*)```/.exec(GUIDE)!;
    writeFileSync(join(folder, "receiver.mjs"), code);
    port = await freePort();
    const env = { PATH: process.env.PATH, SECRET: "topsecret", PORT: String(port) };
    receiver = spawn(process.execPath, ["receiver.mjs"], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    receiver.stdout!.on("data", (text: Buffer) => (printed += text.toString()));
    await until(() => post("", {}).catch(() => undefined));
  });
  afterAll(() => {
    receiver.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const post = async (body: string, headers: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${port}/events`, { method: "POST", body, headers })).status;

  test("runs: it accepts signed events once each, and refuses others", async () => {
    const body = '{"event":"session-start","data":{"name":"Grüezi 🥊"}}';
    const headers = { ...signatureHeaders("evt-1", body, ["topsecret"], 1), "webhook-chat-id": "chat-1" };
    expect(await post(body, headers)).toBe(204);
    expect(await post(body, headers)).toBe(204);
    expect(await post(`${body} `, headers)).toBe(403);
    expect(await post(body, { ...headers, "x-signature": "00" })).toBe(403);
    expect(await post(body, {})).toBe(403);
    const other = signatureHeaders("evt-2", body, ["topsecret"], 1);
    expect(await post(body, other)).toBe(204);
    const lines = await until(() => printed.split("\n").length > 2 && printed.trim().split("\n"));
    expect(lines).toEqual([
      'session-start chat-1 {"name":"Grüezi 🥊"}',
      'session-start  {"name":"Grüezi 🥊"}',
    ]);
  });
});

test("both secrets sign during a change", () => {
  const headers = signatureHeaders("id", BODY, ["new", "old"], 1);
  const alone = (secret: string) => signatureHeaders("id", BODY, [secret], 1);
  expect(headers["webhook-signature"]).toBe(
    [alone("new"), alone("old")].map((one) => one["webhook-signature"]).join(" "),
  );
  expect(headers["x-signature"]).toBe(alone("new")["x-signature"]);
});
