import { describe, expect, test } from "@jest/globals";
import { Crypto, sameText } from "../../src/platform/crypto";
import { masked, newKeyValue } from "../../src/account/auth/keys";

const OLD = "the key that was used before, until today";
const NEW = "the key that is used from today on, at first";
const CONTEXT = "organization/api_keys/1";

describe("a sealed value", () => {
  const crypto = new Crypto([NEW]);

  test.each(["", "secret", "ü😀\u0000", "x".repeat(100_000)])("decrypts to the original value", (plain) => {
    expect(crypto.open(crypto.seal(plain, CONTEXT), CONTEXT)).toBe(plain);
  });

  test("differs each time and never contains the original value", () => {
    const [one, two] = [crypto.seal("secret", CONTEXT), crypto.seal("secret", CONTEXT)];
    expect(one).not.toBe(two);
    expect(one).not.toContain("secret");
  });

  test.each(["organization/api_keys/2", "another/api_keys/1", "organization/webhook_destinations/1", ""])(
    "cannot be decrypted in the context %j",
    (context) =>
      expect(() => crypto.open(crypto.seal("secret", CONTEXT), context)).toThrow(
        `The encrypted value of ${context} was changed in the database, or is that of another record.`,
      ),
  );

  test("cannot be decrypted after any of its bytes was changed", () => {
    const [id, body] = crypto.seal("secret", CONTEXT).split(".") as [string, string];
    const bytes = Buffer.from(body, "base64url");
    bytes.forEach((byte, place) => {
      const changed = Buffer.from(bytes);
      changed[place] = byte ^ 1;
      expect(() => crypto.open(`${id}.${changed.toString("base64url")}`, CONTEXT)).toThrow();
    });
  });

  test.each(["", "x", "a.b", "a.b.c"])("that was never encrypted (%j) is rejected", (text) => {
    expect(() => crypto.open(text, CONTEXT)).toThrow();
  });
});

describe("key rotation with new,old", () => {
  const [before, during, after] = [new Crypto([OLD]), new Crypto([NEW, OLD]), new Crypto([NEW])];

  test("decrypts values of both keys, and encrypts with the new one", () => {
    expect(during.open(before.seal("secret", CONTEXT), CONTEXT)).toBe("secret");
    expect(after.open(during.seal("secret", CONTEXT), CONTEXT)).toBe("secret");
    expect(() => before.open(during.seal("secret", CONTEXT), CONTEXT)).toThrow(/ENCRYPTION_KEYS lacks/);
  });

  test("can be completed: without the old key its values cannot be decrypted", () => {
    expect(() => after.open(before.seal("secret", CONTEXT), CONTEXT)).toThrow(/ENCRYPTION_KEYS lacks/);
  });

  test("finds credentials of both keys, the new key first", () => {
    expect(during.lookups("value")).toEqual([after.lookup("value"), before.lookup("value")]);
    expect(during.lookup("value")).toBe(after.lookup("value"));
    expect(after.lookup("value")).not.toBe(after.lookup("another"));
  });

  test("accepts links signed with either key", () => {
    expect(during.verify("link", before.sign("link"))).toBe(true);
    expect(during.verify("link", after.sign("link"))).toBe(true);
    expect(after.verify("link", before.sign("link"))).toBe(false);
    expect(during.verify("another link", after.sign("link"))).toBe(false);
  });

  test("finds token keys by their ids", () => {
    expect(during.tokenKeyById(before.tokenKey.id)).toEqual(before.tokenKey.key);
    expect(during.tokenKey).toEqual(after.tokenKey);
    expect(after.tokenKeyById(before.tokenKey.id)).toBeUndefined();
    expect(during.tokenKeyById(undefined)).toBeUndefined();
  });
});

test("crypto cannot be created without a key", () => expect(() => new Crypto([])).toThrow());

test("sameText compares texts", () => {
  expect(sameText("abc", "abc")).toBe(true);
  for (const other of ["abd", "ab", "abcd", ""]) expect(sameText("abc", other)).toBe(false);
});

describe("key values", () => {
  test.each<["SECRET" | "PUBLIC", RegExp]>([
    ["SECRET", /^parley_sk_[0-9A-Za-z]{36}$/],
    ["PUBLIC", /^parley_pk_[0-9A-Za-z]{36}$/],
  ])("of type %s show their type and are unique", (type, shape) => {
    const values = Array.from({ length: 1000 }, () => newKeyValue(type));
    for (const value of values) expect(value).toMatch(shape);
    expect(new Set(values).size).toBe(1000);
  });

  test("are masked to prefix and last four characters", () => {
    const value = newKeyValue("SECRET");
    expect(masked(value)).toBe(`parley_sk_…${value.slice(-4)}`);
    expect(masked("one that an operator chose")).toBe("one…hose");
  });
});
