import { isIP } from "node:net";
import { z } from "zod";
import { quoted } from "../errors";
import { databaseUrlProblem, withVerification } from "./database-url";

/** An error message that ends with the value. Not for settings that may hold a secret. */
const withValue =
  (expectation: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    `${expectation}; got ${quoted(String(input))}`;

export const flag = z
  .enum(["true", "false", "on", "off", "1", "0"], { error: withValue("must be true or false, or on or off") })
  .transform((text) => ["true", "on", "1"].includes(text));
export const whole = (minimum: number, maximum: number) =>
  z
    .string()
    .refine((text) => /^\d+$/.test(text) && Number(text) >= minimum && Number(text) <= maximum, {
      error: withValue(`must be a whole number from ${minimum} to ${maximum}`),
    })
    .transform(Number);
/** A text that is refused with the message of `problemOf`, if it has one. */
const checked = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
const urlProblem =
  (...protocols: string[]) =>
  (text: string): string | undefined =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol)
      ? undefined
      : `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`;
export const url = (...protocols: string[]) => checked(urlProblem(...protocols));
export const databaseUrl = checked(databaseUrlProblem).transform(withVerification);
/** The address of this service, to which its paths are appended. */
export const ownAddress = checked(
  (text) => urlProblem("http:", "https:")(text) ?? ownAddressProblem(new URL(text)),
).transform((text) => new URL(text).origin);

function ownAddressProblem({ username, password, pathname, search, hash }: URL): string | undefined {
  if (username !== "" || password !== "") return "must be a URL without a user and password";
  return /[^/]/.test(pathname + search + hash)
    ? "must be a URL that ends after the host name or port, such as https://parley.example.com: the pages of Parley work only at the root of a host name or port of their own"
    : undefined;
}
/** A base address, to which paths are appended. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end--;
  return text.slice(0, end);
}
export const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, { error: withValue(`must be one of ${values.join(", ")}`) });
export const word = z
  .string()
  .regex(/^[a-z0-9-]+$/, { error: withValue("must be lower-case letters, digits and -") });
export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean),
);

/** Whether it is an address, or a range such as `10.0.0.0/8`. */
export function isRange(text: string): boolean {
  const [address = "", bits = "0", ...more] = text.split("/");
  const most = isIP(address) === 6 ? 128 : 32;
  return isIP(address) > 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most && more.length === 0;
}

export const isHostName = (text: string): boolean => /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i.test(text);
