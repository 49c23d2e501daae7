import type { EngineAnswer } from "../../ports/voice-engine";
import { assistantOf } from "./assistant-of";

const onOneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ");

/** Response to a callback, in Vapi's format. */
export function answerMessage(given: EngineAnswer): Record<string, unknown> {
  switch (given.type) {
    case "tools":
      return {
        // Vapi requires results without line breaks.
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
