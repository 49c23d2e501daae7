import { expect, test } from "@jest/globals";
import pg from "pg";
import { TOKENS_CHANNEL } from "../../src/chats/chats/chats";
import { TokenStream } from "../../src/conversation/turns/token-stream";
import { newId } from "../../src/platform/database/values/ids";
import { useApp } from "../support/app";
import { afterTest } from "../support/server";
import { until } from "../support/until";

const running = useApp();

/** The texts that other servers hear, from now on. */
async function hear(): Promise<string[]> {
  const heard: string[] = [];
  const listener = new pg.Client({ connectionString: running.database.ownerUrl });
  await listener.connect();
  afterTest(() => listener.end());
  listener.on("notification", ({ payload }) => heard.push((JSON.parse(payload!) as { text: string }).text));
  await listener.query(`listen ${TOKENS_CHANNEL}`);
  return heard;
}

test("streaming stops when the answer turns out to be discarded, and the process continues", async () => {
  const heard = await hear();
  const unheard: unknown[] = [];
  const note = (error: unknown) => void unheard.push(error);
  process.on("unhandledRejection", note);
  afterTest(() => process.off("unhandledRejection", note));

  const scope = running.app.database.scope(newId());
  const tokens = new TokenStream(scope, "chat");
  tokens.add("shown");
  const sending = tokens.flush();
  tokens.waitFor(Promise.reject(new Error("somebody else has answered"))); // while a piece is on its way
  tokens.add("not shown");
  await Promise.all([sending, tokens.flush()]);
  scope.announce(TOKENS_CHANNEL, { chatId: "chat", text: "the end" });
  await until(() => heard.includes("the end"));
  expect(heard).toEqual(["shown", "the end"]);
  expect(unheard).toEqual([]);
});

test.each([
  ["control characters", "\u0001"],
  ["quotation marks", '"'],
  ["emoji", "😀"],
])("other servers hear all parts of an answer of %s, which notifications write longest", async (_, one) => {
  const heard = await hear();
  const tokens = new TokenStream(running.app.database.scope(newId()), newId());
  const answer = one.repeat(4_000);
  tokens.add(answer);
  await tokens.flush();
  await until(() => heard.join("").length >= answer.length);
  expect(heard.join("")).toBe(answer);
});
