import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

const IMPORT = /(?:from|import\() ?"(\.{1,2}\/[^"]+)"/g;

/** A file and what it imports, both from the project's folder. */
export type FileImport = readonly [from: string, to: string];

/** The groups of src and the two interfaces as a Mermaid flowchart; arrows show imports. */
export function groupDiagram(imports: readonly FileImport[] = fileImports()): string {
  const imported = importsOfGroups(imports);
  const lines = [...imported.keys()].flatMap((group) =>
    direct(group, imported).map((other) => `  ${idOf(group)} --> ${idOf(other)}`),
  );
  const names = [...imported.keys()].map((group) => `  ${idOf(group)}["${group}"]`);
  return ["```mermaid", "flowchart TD", ...names.sort(), ...lines.sort(), "```"].join("\n");
}

const idOf = (group: string) => group.replace(/\W/g, "");

/** Imports found by a pattern: a test compares them with the compiler's, which is no dependency of the server. */
function fileImports(): FileImport[] {
  return ["src", "schema", "rest-compat"].flatMap((top) =>
    readdirSync(top, { recursive: true, encoding: "utf8" })
      .map((name) => posix.join(top, name.replaceAll("\\", "/")))
      .filter((path) => /\.tsx?$/.test(path))
      .flatMap((path) =>
        [...readFileSync(path, "utf8").matchAll(IMPORT)].map(
          ([, target]): FileImport => [path, posix.join(posix.dirname(path), target!)], // the pattern captures it
        ),
      ),
  );
}

/** For each group, the other groups that its files import. */
function importsOfGroups(imports: readonly FileImport[]): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const [from, to] of imports) {
    const [group, other] = [groupOf(from), groupOf(to)];
    if (group === undefined) continue;
    const others = groups.get(group) ?? new Set();
    groups.set(group, others);
    if (other !== undefined && other !== group) others.add(other);
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
