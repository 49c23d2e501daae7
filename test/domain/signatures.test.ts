import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "@jest/globals";
import ts from "typescript";
import { signatureHeaders } from "../../src/events/webhooks/signatures";

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

test("both secrets sign during a change", () => {
  const headers = signatureHeaders("id", BODY, ["new", "old"], 1);
  const alone = (secret: string) => signatureHeaders("id", BODY, [secret], 1);
  expect(headers["webhook-signature"]).toBe(
    [alone("new"), alone("old")].map((one) => one["webhook-signature"]).join(" "),
  );
  expect(headers["x-signature"]).toBe(alone("new")["x-signature"]);
});
