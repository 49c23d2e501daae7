import { describe, expect, test } from "@jest/globals";
import { readFunction } from "../../src/assistants/configurations/functions";

const SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "number" },
    exact: { type: "boolean" },
    more: { type: "object" },
  },
  required: ["city"],
};

describe("a function is valid", () => {
  test("in the flat format", () => {
    const item = {
      name: "look_up",
      description: "Looks it up",
      parameters: SCHEMA,
      serverUrl: "https://example.com/f",
      secretKey: "s",
    };
    expect(readFunction(item)).toEqual(item);
  });

  test("in the nested format", () => {
    expect(
      readFunction({
        type: "function",
        function: { name: "look_up", description: "Looks it up", parameters: SCHEMA },
        server: { url: "https://example.com/f", secret: "s" },
      }),
    ).toEqual({
      name: "look_up",
      description: "Looks it up",
      parameters: SCHEMA,
      serverUrl: "https://example.com/f",
      secretKey: "s",
    });
  });

  test.each([
    [{ name: "f" }],
    [{ type: "function", function: { name: "f" } }],
    [{ name: "f", description: 5, serverUrl: "", secretKey: null }],
    [{ type: "function", function: { name: "f" }, server: "https://example.com" }],
  ])("with defaults for missing fields: %j", (item) => {
    expect(readFunction(item)).toEqual({
      name: "f",
      description: "",
      parameters: { type: "object", properties: {} },
    });
  });

  test.each([{}, { type: "object" }, { properties: {} }, { type: "object", additionalProperties: false }])(
    "with the parameters %j unchanged",
    (parameters) => expect(readFunction({ name: "f", parameters })).toMatchObject({ parameters }),
  );

  test("with the server in the place of the other format, but without that server", () => {
    expect(readFunction({ name: "f", server: { url: "https://example.com" } })).not.toHaveProperty(
      "serverUrl",
    );
  });
});

describe("a function is invalid", () => {
  test.each([
    ["name", {}],
    ["name", { name: "" }],
    ["name", { name: "two words" }],
    ["name", { name: "x".repeat(65) }],
    ["name", { name: 5 }],
    ["name", { type: "function", name: "outside", function: {} }],
    ["parameters", { name: "f", parameters: "{}" }],
    ["parameters", { name: "f", parameters: [] }],
    ["parameters", { name: "f", parameters: { type: "array" } }],
    ["parameters.properties", { name: "f", parameters: { properties: [] } }],
    ["a property days", { name: "f", parameters: { properties: { days: { type: "integer" } } } }],
    ["a property days", { name: "f", parameters: { properties: { days: "number" } } }],
    ["a property days", { name: "f", parameters: { properties: { days: {} } } }],
    ["parameters.required", { name: "f", parameters: { required: "city" } }],
    ["parameters.required", { name: "f", parameters: { required: [1] } }],
  ])("because of its %s: %j", (what, item) =>
    expect(readFunction(item)).toEqual(expect.stringContaining(what)),
  );
});
