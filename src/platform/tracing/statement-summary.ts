import { LRUCache } from "lru-cache";

const MAX_SUMMARIES = 2_000;
const MAX_TARGETS = 4;
/** Words that follow `update` and `from` without being tables, such as in `for update of`. */
const NO_TABLES = new Set(["of", "set", "skip", "nowait", "lateral", "select", "only", "unnest", "now"]);

const summaries = new LRUCache<string, string>({ max: MAX_SUMMARIES });

/** Commands and tables of a statement, such as `INSERT events deliveries`: never its text or its values. */
export function summaryOf(sql: string): string {
  const known = summaries.get(sql);
  if (known !== undefined) return known;
  const summary = summarize(sql);
  summaries.set(sql, summary);
  return summary;
}

function summarize(sql: string): string {
  const parts = new Set([...sql.matchAll(/\b(\w+) as (?:materialized )?\(/g)].map(([, name]) => name!));
  const targets = new Map<string, Set<string>>();
  for (const [, words, table] of sql.matchAll(
    /\b(insert into|update|delete from|from|join) (?:public\.)?"?(\w+)/gi,
  )) {
    const verb = VERBS[words!.toLowerCase()]!;
    if (parts.has(table!) || NO_TABLES.has(table!.toLowerCase())) continue;
    targets.set(verb, (targets.get(verb) ?? new Set()).add(table!));
  }
  const writes = [...targets].filter(([verb]) => verb !== "SELECT");
  const shown = writes.length > 0 ? writes : [...targets];
  const first = /^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? "";
  if (shown.length === 0) return first;
  return shown.map(([verb, tables]) => [verb, ...[...tables].slice(0, MAX_TARGETS)].join(" ")).join(", ");
}

const VERBS: Readonly<Record<string, string>> = {
  "insert into": "INSERT",
  update: "UPDATE",
  "delete from": "DELETE",
  from: "SELECT",
  join: "SELECT",
};
