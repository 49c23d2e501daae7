import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { afterTest } from "../support/server";
import type { Reply } from "../support/stub-model";
import { talk } from "../support/talk";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" });
const KEY = "sk-test-1234";
const SAID = "My door code is 4711.";
const MODEL = "GPT_4_O";
const configuration = { model: MODEL };

const warnings = async (): Promise<readonly string[]> =>
  (await running.api.gql("{ organization { warnings } }")).organization.warnings;

/** Starts a conversation whose model replies so. */
async function conversation(...replies: Reply[]) {
  const talking = await talk(running, replies, { configuration });
  afterTest(() => talking.answered().then(talking.model.stop));
  return talking;
}

/** Kinds of failures, each with a reply of the provider and what the warning says. */
const KINDS: readonly (readonly [kind: string, reply: Reply, meaning: string, remedy: string])[] = [
  [
    "key_refused",
    { status: 401, error: { message: `Incorrect key: ${KEY}` } },
    "refuses the key",
    "setModelCredential",
  ],
  [
    "unknown_model",
    { status: 404, error: { message: "no such model", code: "model_not_found" } },
    "does not have this model",
    "setModelMapping",
  ],
  [
    "limited",
    { status: 402, error: { message: "Pay first." } },
    "quota or credit is used up",
    "at the provider",
  ],
  ["refused", { status: 400, error: { message: `Not allowed: ${SAID}` } }, "refuses the requests", "Correct"],
  ["failed", { status: 500, error: { message: "Out of memory." } }, "reports an error", "status page"],
];

describe("Organization.warnings", () => {
  test.each(KINDS)(
    "names a model that fails until it answers again: %s",
    async (kind, reply, meaning, remedy) => {
      const failing = await conversation(reply);
      expect(await failing.say(SAID)).toMatchObject({ metadata: { error: true } });
      const [warning, ...others] = await warnings();
      expect(others).toEqual([]);
      for (const part of [MODEL, "OPENAI", "gpt-4o", kind, meaning, remedy]) expect(warning).toContain(part);
      for (const secret of [KEY, SAID]) expect(warning).not.toContain(secret);
      const working = await conversation({ text: ["At nine."] });
      await working.say("When do you open?");
      expect(await warnings()).toEqual([]);
    },
  );

  test("names a model that cannot be reached", async () => {
    const { model, say } = await conversation({ text: [] });
    await model.stop();
    await say(SAID);
    expect(await warnings()).toEqual([expect.stringContaining("OPENAI cannot be reached")]);
  });

  test("no longer names a model after a successful test, or another mapping", async () => {
    const { model, say } = await conversation({ status: 401 }, { text: ["Hello."] }, { status: 401 });
    const SET = "mutation ($input: ModelMappingInput!) { setModelMapping(input: $input) { model } }";
    await say(SAID);
    expect(await warnings()).toHaveLength(1);
    await running.api.gql(`mutation { testModel(input: { model: ${MODEL} }) { text } }`);
    expect(await warnings()).toEqual([]);
    await say(SAID);
    expect(await warnings()).toHaveLength(1);
    await running.api.gql(SET, { input: { model: MODEL, name: "another", baseUrl: model.url } });
    expect(await warnings()).toEqual([]);
    await running.api.gql(SET, { input: { model: MODEL } });
  });

  test("does not name the models of another organization", async () => {
    const { say } = await conversation({ status: 401 });
    await say(SAID);
    const other = await running.otherOrganization();
    expect((await other.api.gql("{ organization { warnings } }")).organization.warnings).toEqual([]);
  });
});
