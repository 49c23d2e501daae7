import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, newChat, quietAssistant, say, UNKNOWN_ID } from "../support/factories";

const running = useApp({ WORKER: "on" });
let a: string;
let log: string;

beforeAll(async () => {
  a = await quietAssistant(running.api);
  log = await newChat(running.api, a);
  await say(running.api, log, "Where is my parcel?");
  await endChat(running.api, log);
});

describe("logs that are read with their assistant", () => {
  test.each([
    ["an alias", 'query ($a: ID!) { assistant(id: $a) { found: logs(search: "parcel") { id } } }'],
    [
      "a variable",
      'query ($a: ID!, $s: String = "parcel") { assistant(id: $a) { found: logs(search: $s) { id } } }',
    ],
    [
      "a fragment",
      "query ($a: ID!) { assistant(id: $a) { ...L } } fragment L on Assistant { found: logs { id } }",
    ],
    [
      "a directive",
      "query ($a: ID!, $s: Boolean = false) { assistant(id: $a) { found: logs @skip(if: $s) { id } } }",
    ],
  ])("have the same result under %s", async (_what, query) => {
    expect(await running.api.gql(query, { a })).toEqual({ assistant: { found: [{ id: log }] } });
  });

  test("are not mixed up if they are listed twice with other arguments", async () => {
    const query = `query ($a: ID!) { assistant(id: $a) {
      none: logs(search: "invoice") { id } voice: logs(type: VOICE) { id } all: logs { id } } }`;
    const expected = { none: [], voice: [], all: [{ id: log }] };
    expect(await running.api.gql(query, { a })).toEqual({ assistant: expected });
  });

  test("are no error of their own if there is no such assistant", async () => {
    const query = 'query ($a: ID!) { assistant(id: $a) { logs(after: "unknown") { id } } }';
    const error = await running.api.gqlError(query, { a: UNKNOWN_ID });
    expect(error).toMatchObject({ path: ["assistant"], extensions: { code: "ASSISTANT_NOT_FOUND" } });
  });

  test("name the argument that is wrong", async () => {
    const query = 'query ($a: ID!) { assistant(id: $a) { logs(after: "unknown") { id } } }';
    const error = await running.api.gqlError(query, { a });
    expect(error.path).toEqual(["assistant", "logs"]);
    expect(error.message).toContain("after");
  });

  test("of another organization stay hidden", async () => {
    const { api } = await running.otherOrganization();
    const error = await api.gqlError("query ($a: ID!) { assistant(id: $a) { logs { id } } }", { a });
    expect(error.extensions.code).toBe("ASSISTANT_NOT_FOUND");
  });
});
