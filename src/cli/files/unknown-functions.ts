import { quoted } from "../../platform/errors";
import type { LocalRecord } from "./folder";
import { CHANNELS, isFields, nameOfFunction, textOf, type Fields } from "./kinds";
import type { RemoteRecord } from "./remote";
import type { Path } from "./yaml-file";

/** A function that a workflow needs from an assistant. */
interface Need {
  readonly assistant: string;
  readonly name: string;
  readonly at: Path;
}

/**
 * Lines about functions of nodes and edges that the assistants of the files do not have, which keeps the workflow from
 * running.
 * @param stored what the server has: functions that files leave out, and tools of MCP servers; undefined without a server
 */
export function unknownFunctions(
  local: readonly LocalRecord[],
  stored?: readonly RemoteRecord[],
): readonly string[] {
  const known = new Map(
    local.flatMap(({ kind, key, fields }) => {
      if (kind !== "assistant") return [];
      const remote = stored?.find((one) => one.kind === kind && one.key === key);
      return [[key, new Set([...functionsOf(fields, remote?.fields), ...(remote?.tools ?? [])])] as const];
    }),
  );
  const end = stored
    ? ""
    : " It can be a function that the file leaves out, or a tool of an MCP server: name the server to check that.";
  return local.flatMap(({ kind, file, fields }) =>
    (kind === "workflow" ? needsOf(fields) : []).flatMap(({ assistant, name, at }) => {
      if (known.get(assistant)?.has(name) !== false) return [];
      const message = `The assistant ${assistant} has no function ${quoted(name)}, without which the workflow cannot run.`;
      return [file.problemAt(at, `Warning: ${message}${end}`)];
    }),
  );
}

/** A channel that leaves out its functions keeps those of the server. */
const functionsOf = (fields: Fields, stored: Fields = {}): string[] =>
  CHANNELS.flatMap((channel) => {
    const [own, kept] = [fields[channel], stored[channel]].map((one) =>
      isFields(one) ? one.functions : undefined,
    );
    return ((own ?? kept ?? []) as readonly Fields[]).map(nameOfFunction);
  });

function needsOf({ nodes = {}, edges = [] }: Fields): Need[] {
  const all = nodes as Readonly<Record<string, Fields>>;
  const need = (assistant: unknown, name: unknown, at: Path): Need[] =>
    assistant == null || name == null ? [] : [{ assistant: textOf(assistant), name: textOf(name), at }];
  const ofNodes = Object.entries(all).flatMap(([label, { type, assistant, functionName }]) =>
    type === "ACTION" ? need(assistant, functionName, ["nodes", label, "functionName"]) : [],
  );
  const ofEdges = (edges as readonly Fields[]).flatMap(({ from, kind, functionName }, index) => {
    const { type, assistant } = all[String(from)] ?? {};
    const at = ["edges", index, "functionName"];
    return kind === "FUNCTION" && type === "PROMPT" ? need(assistant, functionName, at) : [];
  });
  return [...ofNodes, ...ofEdges];
}
