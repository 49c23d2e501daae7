import type { EngineAnswer } from "../../ports/voice-engine";
import { assistantOf } from "./assistant-of";

const onOneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ");

/** The answer to a message of Vapi's, in its words. */
export function answerMessage(given: EngineAnswer): Record<string, unknown> {
  switch (given.type) {
    case "tools":
      return {
        // Vapi takes a result on one line.
        results: given.results.map(({ id, name, text }) => ({
          toolCallId: id,
          name,
          result: onOneLine(text),
        })),
      };
    case "assistant":
      return { assistant: assistantOf(given.order) };
    case "no-transfer":
      return { error: given.message };
  }
}
