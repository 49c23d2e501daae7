import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { signatureHeaders } from "../../src/webhooks/signatures";

const BODY = '{"event":"session-start"}';

test("the README's example of a signature is what is sent", () => {
  const headers = signatureHeaders("id", BODY, ["topsecret"], 1);
  expect(headers["x-signature"]).toBe("602776a25e7882b20f084096e63eb9ba38bfbfce40948bb02281d7415fcff581");
  expect(readFileSync("README.md", "utf8")).toContain(headers["x-signature"]!);
});

test("the vector of Standard Webhooks' own documentation is met", () => {
  const headers = signatureHeaders(
    "msg_p5jXN8AQM9LWM0D4loKWxJek",
    '{"test": 2432232314}',
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    1_614_265_330,
  );
  expect(headers["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

test("while a secret is being changed, both sign", () => {
  const headers = signatureHeaders("id", BODY, ["new", "old"], 1);
  const alone = (secret: string) => signatureHeaders("id", BODY, [secret], 1);
  expect(headers["webhook-signature"]).toBe(
    [alone("new"), alone("old")].map((one) => one["webhook-signature"]).join(" "),
  );
  expect(headers["x-signature"]).toBe(alone("new")["x-signature"]);
});
