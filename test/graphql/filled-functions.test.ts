import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { Receiver } from "../support/receiver";
import { talk } from "../support/talk";

const running = useApp({ WORKER: "on" });
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const texts = (filled: string) => ({
  title: filled,
  description: filled,
  default: { "{x}": filled },
  const: [filled],
  enum: [filled, { deep: filled }],
  examples: [filled],
});
/** A schema with a placeholder in every keyword. @param filled the text in places where values are filled in */
const everything = (filled: string, depth = 0): object => ({
  type: "object",
  ...(depth > 0 && texts(filled)),
  ...(depth === 0 && { title: "{x}", description: filled, default: { a: "{x}" } }),
  $comment: "{x}",
  $id: "https://example.com/{x}",
  required: ["{x}"],
  properties: {
    "{x}": { type: "string", pattern: "^{x}$", format: "{x}", ...texts(filled) },
    description: { type: "string", contentMediaType: "{x}" },
    pattern: { type: "string", ...texts(filled) },
    ...(depth < 2 && { deeper: { ...everything(filled, depth + 1), $id: `https://example.com/${depth}` } }),
    list: { type: "object", items: texts(filled), anyOf: [texts(filled)], not: { pattern: "{x}" } },
  },
  patternProperties: { "^{x}$": { type: "string", ...texts(filled) } },
});

describe("variables are filled into a function", () => {
  test("in descriptions and the values of its properties, and nowhere else", async () => {
    const functions = [{ name: "f", description: "{x}", parameters: everything("{x}") }];
    const { model, say, answered } = await talk(running, [{ text: ["Fine."] }], {
      configuration: { functions },
      start: { variables: { x: "filled" } },
    });
    stops.push(answered, model.stop);
    await say("Hello");
    const offered = model.asked[0]!.tools!.map((tool) => tool.function).find(({ name }) => name === "f");
    expect(offered).toMatchObject({ description: "filled", parameters: everything("filled") });
  });

  test("so that a list of values stays valid if some become equal", async () => {
    const receiver = await new Receiver((res) => void res.end('"Done."')).start();
    const color = { type: "string", enum: ["{a}", "{b}", "{c}", "blue"] };
    const parameters = { type: "object", properties: { color } };
    const functions = [{ name: "f", serverUrl: receiver.url, parameters }];
    const { model, say, answered } = await talk(
      running,
      [{ call: "f", arguments: '{"color": "red"}' }, { text: ["Fine."] }],
      { configuration: { functions }, start: { variables: { a: "red", b: "blue", c: "red" } } },
    );
    stops.push(answered, model.stop, () => receiver.stop());
    await say("Hello");
    await answered();
    const offered = model.asked[0]!.tools!.map((tool) => tool.function).find(({ name }) => name === "f");
    expect(offered).toMatchObject({ parameters: { properties: { color: { enum: ["red", "blue"] } } } });
    expect(receiver.received).toHaveLength(1);
  });

  test.each(["3", "3a", "1.x", ".x"])("but not for a name that starts like %s", async (name) => {
    const properties = { code: { type: "string", pattern: "^[0-9]{3}$", description: `{${name}} digits` } };
    const functions = [{ name: "f", parameters: { type: "object", properties } }];
    const { model, say, answered } = await talk(running, [{ text: ["Fine."] }], {
      configuration: { functions, prompt: `Code {${name}}.` },
      start: { variables: { [name]: "0,99" } },
    });
    stops.push(answered, model.stop);
    await say("Hello");
    const offered = model.asked[0]!.tools!.map((tool) => tool.function).find((one) => one.name === "f");
    expect(offered).toMatchObject({ parameters: { properties } });
    expect(model.asked[0]!.messages[0]!.content).toContain(`Code {${name}}.`);
  });
});

test("values fill at most a million characters into the prompt, however often it names them", async () => {
  const place = "{long} and {object}. ";
  const { model, say, answered } = await talk(running, [{ text: ["Fine."] }], {
    configuration: { prompt: `${place.repeat(4_000)}The end, {name}.` },
    start: { variables: { long: "x".repeat(400_000), object: { deep: "y".repeat(300_000) }, name: "Ada" } },
  });
  stops.push(answered, model.stop);
  await say("Hello");
  const [prompt] = model.asked[0]!.messages.map(({ content }) => content as string);
  expect(prompt!.match(/x/g)).toHaveLength(400_000);
  expect(prompt!.match(/y/g)).toHaveLength(300_000);
  expect(prompt).toContain("The end, .");
});
