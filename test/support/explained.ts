import pg from "pg";
import type { TestDatabase } from "./database";
import type { PlanNode } from "./plans";

/** A statement that a role has run, or that a function or a trigger has run for it, with its plan. */
export interface Explained {
  readonly text: string;
  readonly parameters: string;
  readonly plan: PlanNode;
  /** Whether a connection keeps it by name, so that PostgreSQL may plan it once for all values. */
  readonly isPrepared: boolean;
}

/** Settings of a role for which PostgreSQL sends the plan of each statement to the client once it has ended. */
const SETTINGS: Readonly<Record<string, string>> = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_buffers": "on",
  "auto_explain.log_timing": "off",
  "auto_explain.log_triggers": "off",
  "auto_explain.log_nested_statements": "on",
  "auto_explain.log_format": "json",
  "auto_explain.log_level": "notice",
};

/** Makes PostgreSQL explain what the role of the servers runs, on connections that are opened from now on. */
export async function explainAll({ url, query }: TestDatabase, settings: object = {}): Promise<void> {
  const { username, pathname } = new URL(url);
  for (const [name, value] of Object.entries({ ...SETTINGS, ...settings }))
    await query(`alter role ${username} in database ${pathname.slice(1)} set ${name} = '${value}'`);
}

type Emit = (this: pg.Client, event: string, ...values: unknown[]) => boolean;
type Parse = (this: unknown, query: { readonly name?: string; readonly text: string }) => void;

/** Passes the plans that any connection of this process receives to a function. @returns a function that ends this */
export function hearPlans(hear: (explained: Explained) => void): () => void {
  const client = pg.Client.prototype as unknown as { emit: Emit };
  const connection = pg.Connection.prototype as unknown as { parse: Parse };
  const [emit, parse] = [client.emit, connection.parse];
  const named = new Set<string>();
  connection.parse = function (query) {
    if (query.name) named.add(query.text);
    parse.call(this, query);
  };
  client.emit = function (event, ...values) {
    const message = event === "notice" ? (values[0] as Error).message : "";
    const [, json] = /^duration: .* plan:\n(\{.*)$/s.exec(message) ?? [];
    if (json !== undefined) {
      const { "Query Text": text, "Query Parameters": parameters = "", Plan: plan } = JSON.parse(json);
      hear({ text, parameters, plan, isPrepared: named.has(text) });
    }
    return emit.call(this, event, ...values);
  };
  return () => {
    client.emit = emit;
    connection.parse = parse;
  };
}
