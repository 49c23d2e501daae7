import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import type { Reply } from "../support/stub-model";
import { talk as talkWith } from "../support/talk";

const running = useApp({ WORKER: "on" });
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const PARKING = "Parking is free behind the house.";
const HOURS = "We are open from eight to six.";
const resources = `${PARKING}\n\n${HOURS}`;
const OK: Reply = { text: ["Fine."] };
const cited = (...texts: string[]) => texts.map((text) => ({ source: "resources", text }));

/** A chat with RAG enabled and a model, whose assistant knows two facts. */
async function talk(rag: object, replies: Reply[] = [OK], start = {}) {
  const made = await talkWith(running, replies, { configuration: { resources }, rag, start });
  stops.push(made.model.stop);
  return made;
}

describe("an assistant's knowledge is searched", () => {
  test.each(["TEXT", "SMS", "VOICE"])(
    "for each message if forceRag is on, and cited: %s",
    async (channel) => {
      const { say, told } = await talk({ forceRag: true }, [OK], { channel });
      expect((await say("Is there parking?")).metadata.citations).toEqual(cited(PARKING));
      expect(told(1)).toContain(`[resources] ${PARKING}`);
      expect(told(1)).not.toContain(HOURS);
      expect((await say("When are you open?")).metadata.citations).toEqual(cited(HOURS));
      expect(told(2)).toContain(HOURS);
      expect(told(2)).not.toContain(PARKING);
      expect((await say("Thank you")).metadata).not.toHaveProperty("citations");
    },
  );

  test("if a message contains one of ragTriggerTopics, ignoring case, and only then", async () => {
    const { say, told } = await talk({ ragTriggerTopics: "opening hours,\nPARKING\n, " });
    expect((await say("Is there parking?")).metadata.citations).toEqual(cited(PARKING));
    expect(told(1)).toContain(PARKING);
    expect((await say("When are you open?")).metadata).not.toHaveProperty("citations");
    expect(told(2)).not.toContain(HOURS);
    expect((await say("Opening hours? When are you open?")).metadata.citations).toEqual(cited(HOURS));
  });

  test("if the model calls the search tool, and cited", async () => {
    const search = { call: "search_knowledge", arguments: '{"query":"parking"}' };
    const nothing = { call: "search_knowledge", arguments: '{"query":"dogs"}' };
    const { model, say, told, log } = await talk({}, [search, OK, nothing, OK]);
    expect((await say("Is there parking?")).metadata.citations).toEqual(cited(PARKING));
    expect(told(1)).not.toContain(PARKING);
    expect(model.asked[0]!.tools!.map(({ function: { name } }) => name)).toEqual(["search_knowledge"]);
    expect(model.asked[1]!.messages.at(-1)).toMatchObject({
      role: "tool",
      content: `[resources] ${PARKING}`,
    });
    expect((await say("Are dogs welcome?")).metadata).not.toHaveProperty("citations");
    expect(model.asked[3]!.messages.at(-1)).toMatchObject({ role: "tool", content: "Nothing was found." });
    const roles = (await log()).messages.items.map(({ role }: { role: string }) => role);
    expect(roles.slice(0, 4)).toEqual(["USER", "ASSISTANT", "TOOL", "ASSISTANT"]);
  });

  test.each([
    ["passages for a trigger topic", { ragTriggerTopics: "parking" }, [OK]],
    [
      "passages that the model searched for",
      {},
      [{ call: "search_knowledge", arguments: '{"query":"parking"}' }, OK, OK],
    ],
  ] satisfies [string, object, Reply[]][])(
    "and the result is kept for the next turns if preserveRagResult is on: %s",
    async (_what, rag, replies) => {
      const keeping = await talk({ ...rag, preserveRagResult: true }, replies);
      await keeping.say("Is there parking?");
      expect((await keeping.say("And what does it cost?")).metadata.citations).toEqual(cited(PARKING));
      expect(keeping.told(keeping.model.asked.length)).toContain(PARKING);

      const forgetting = await talk(rag, replies);
      await forgetting.say("Is there parking?");
      expect((await forgetting.say("And what does it cost?")).metadata).not.toHaveProperty("citations");
      expect(forgetting.told(forgetting.model.asked.length)).not.toContain(PARKING);
    },
  );

  test("never while isRagEnabled is off: resources are then part of the prompt", async () => {
    const off = { isRagEnabled: false, forceRag: true, ragTriggerTopics: "parking", preserveRagResult: true };
    const { model, say, told } = await talk(off);
    expect((await say("Is there parking?")).metadata).not.toHaveProperty("citations");
    expect(told(1)).toContain(resources);
    expect(model.asked[0]!.tools ?? []).toEqual([]);
  });
});
