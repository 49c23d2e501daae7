import { expect, test } from "@jest/globals";
import { BoundedAnswers } from "../../src/platform/outbound/bounds";
import { McpTools } from "../../src/platform/providers/mcp-tools";
import { toolServer } from "../support/tool-server";

/** A list of almost the longest length, 1 MiB. */
const LONG = Array.from({ length: 15 }, (_, index) => ({
  name: `tool-${index}`,
  inputSchema: { type: "object" as const, properties: { text: { description: "x".repeat(60_000) } } },
}));

test("lists of tools are remembered up to 32 MiB, the last ones that were needed", async () => {
  const server = await toolServer(...LONG);
  const tools = new McpTools(fetch, new BoundedAnswers());
  const list = (number: number) =>
    tools.list({ url: server.url, headers: { "x-number": String(number) } }, Infinity);
  for (let number = 0; number < 40; number++) await list(number);
  for (let number = 39; number > 10; number--) expect(await list(number)).toHaveLength(LONG.length);
  expect(server.lists()).toBe(40);
  await list(0);
  expect(server.lists()).toBe(41);
});
