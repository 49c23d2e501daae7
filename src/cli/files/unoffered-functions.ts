import { readEach } from "../../assistants/configurations/functions";
import type { JsonObject } from "../../platform/json/json-object";
import type { LocalRecord } from "./folder";
import { CHANNELS, isFields } from "./kinds";

/** Lines about functions in files that a model is never offered. The server says it, too, but only after a change. */
export function unofferedFunctions(local: readonly LocalRecord[]): string[] {
  const lines = local.flatMap(({ kind, file, fields }) =>
    (kind === "assistant" ? CHANNELS : []).flatMap((channel) => {
      const { functions = [] } = isFields(fields[channel]) ? fields[channel] : {};
      return readEach(functions as readonly JsonObject[]).flatMap((read, index) =>
        typeof read === "string" ? [file.problemAt([channel, "functions", index], `Warning: ${read}`)] : [],
      );
    }),
  );
  return [...new Set(lines)]; // aliases repeat functions
}
