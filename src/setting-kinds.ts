import { z } from "zod";

export const flag = z
  .enum(["true", "false", "on", "off", "1", "0"], { error: "must be true or false" })
  .transform((text) => ["true", "on", "1"].includes(text));
export const whole = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((n) => n >= minimum && n <= maximum, {
      error: `must be a whole number from ${minimum} to ${maximum}`,
    });
export const url = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  });
export const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, { error: `must be one of ${values.join(", ")}` });
export const word = z.string().regex(/^[a-z0-9-]+$/, "must be lower-case letters, digits and -");
export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean),
);
