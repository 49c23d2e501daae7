import { setTimeout as sleep } from "node:timers/promises";
import { callFunctionsForEngine } from "../../conversation/turns/spoken-turn";
import type { ToolCall } from "../../platform/ports/voice-engine";
import { answerTo, claim, storeAnswer } from "./claims";
import type { FoundCall } from "./live-call";
import type { CallbackResult } from "./receive-message";

/** A repeated request waits at most this long for the answer to the first one, and polls this often. */
const ANSWER_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 200;

/** Runs the functions that the engine requests, once; a repeated request gets the same answer. */
export async function callTools(
  { scope, chat }: FoundCall,
  calls: readonly ToolCall[],
  digest: string,
): Promise<CallbackResult> {
  if (!(await claim(scope, chat.id, digest))) {
    for (
      const until = performance.now() + ANSWER_TIMEOUT_MS;
      performance.now() < until;
      await sleep(POLL_INTERVAL_MS)
    ) {
      const answer = await answerTo(scope, chat.id, digest);
      if (answer) return { outcome: "repeated", answer };
    }
    return { outcome: "repeated" };
  }
  const results: { id: string; name: string; text: string }[] = [];
  for (const { id, name, text } of await callFunctionsForEngine(scope, chat, calls))
    results.push({ id, name, text });
  const answer = scope.ports.voice.engine.answer({ type: "tools", results });
  await storeAnswer(scope, chat.id, digest, answer);
  return { outcome: "applied", answer };
}
