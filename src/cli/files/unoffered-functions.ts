import { neverOffered } from "../../assistants/configurations/functions";
import type { JsonObject } from "../../platform/json/json-object";
import type { LocalRecord } from "./folder";
import { CHANNELS, isFields } from "./kinds";

/** Lines about functions in files that a model is never offered. The server says it, too, but only after a change. */
export function unofferedFunctions(local: readonly LocalRecord[]): string[] {
  const lines = local.flatMap(({ kind, file, fields }) =>
    (kind === "assistant" ? CHANNELS : []).flatMap((channel) => {
      const { functions = [] } = isFields(fields[channel]) ? fields[channel] : {};
      return [...neverOffered(functions as readonly JsonObject[])].map(([index, sentence]) =>
        file.problemAt([channel, "functions", index], `Warning: ${sentence}`),
      );
    }),
  );
  return [...new Set(lines)]; // aliases repeat functions
}
