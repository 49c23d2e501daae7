import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

const IMPORT = /(?:from|import\() ?"(\.{1,2}\/[^"]+)"/g;

/** The groups of src and the two interfaces as a Mermaid flowchart; arrows show imports. */
export function groupDiagram(): string {
  const imported = importsOfGroups();
  const lines = [...imported.keys()].flatMap((group) =>
    direct(group, imported).map((other) => `  ${idOf(group)} --> ${idOf(other)}`),
  );
  const names = [...imported.keys()].map((group) => `  ${idOf(group)}["${group}"]`);
  return ["```mermaid", "flowchart TD", ...names.sort(), ...lines.sort(), "```"].join("\n");
}

const idOf = (group: string) => group.replace(/\W/g, "");

/** For each group, the other groups that its files import. */
function importsOfGroups(): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const top of ["src", "schema", "rest-compat"])
    for (const name of readdirSync(top, { recursive: true, encoding: "utf8" })) {
      const path = posix.join(top, name.replaceAll("\\", "/"));
      const group = groupOf(path);
      if (!/\.tsx?$/.test(path) || group === undefined) continue;
      const others = groups.get(group) ?? new Set();
      groups.set(group, others);
      for (const [, target] of readFileSync(path, "utf8").matchAll(IMPORT)) {
        const other = groupOf(posix.join(posix.dirname(path), target!)); // the pattern captures it
        if (other !== undefined && other !== group) others.add(other);
      }
    }
  return groups;
}

function groupOf(path: string): string | undefined {
  const [top, group, file] = path.split("/");
  if (top !== "src") return top;
  return file === undefined ? undefined : group;
}

/** Leaves out imports that are also reached through another group: an arrow means "and everything below". */
function direct(group: string, imported: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const other of imported.get(from) ?? [])
      if (!seen.has(other)) {
        seen.add(other);
        reached(other, seen);
      }
    return seen;
  };
  const others = [...(imported.get(group) ?? [])];
  return others.filter(
    (other) => !others.some((between) => between !== other && reached(between).has(other)),
  );
}
