import type { JsonObject } from "../../platform/json/json-object";
import { RefusedError } from "./http";
import type { Report } from "./report";
import { isObject, listIn, required, textOf, type Source } from "./source";

/** Field of an exported agent with the data of its response engine. */
export const LLM = "retellLlmData";

const LIST = "/v2/list-agents";
const POST = { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } } as const;

/** All agents with the data of their response engines. The report lists those that cannot be read. */
export async function readAll(source: Source, report: Report): Promise<unknown[]> {
  const agents: unknown[] = [];
  for (const one of await readList(source)) {
    if (!isObject(one)) agents.push(one);
    else {
      const id = textOf(one.agent_id) ?? "";
      try {
        agents.push(await readAgent(source, id, one.channel));
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        report.refuse(`This agent was not read: ${error.message}`, id);
      }
    }
  }
  return agents;
}

/**
 * The list of agents, each with its id. After the last page the vendor may say that there is more, and begin again: a key or a
 * page that came before is the end.
 */
async function readList(source: Source): Promise<unknown[]> {
  const all = new Map<unknown, unknown>();
  const keys = new Set<string>();
  for (let key: string | undefined = ""; key !== undefined && !keys.has(key);) {
    keys.add(key);
    const query: string = `limit=100${key && `&pagination_key=${encodeURIComponent(key)}`}`;
    const [page, entries] = await required(async () => {
      const answer = await source.json(`${LIST}?${query}`, POST);
      return [answer, listIn(answer, LIST, "items")] as const;
    });
    const { has_more, pagination_key } = isObject(page) ? page : {};
    const known = all.size;
    for (const one of entries) all.set(isObject(one) ? one.agent_id : one, one);
    const isAgain = entries.length > 0 && all.size === known;
    key = has_more === true && !isAgain ? textOf(pagination_key) : undefined;
  }
  return [...all.values()];
}

/** @throws RefusedError */
async function readAgent(source: Source, id: string, channel: unknown): Promise<JsonObject> {
  const path = channel === "chat" ? "get-chat-agent" : "get-agent";
  const agent = await source.object(`/${path}/${encodeURIComponent(id)}`);
  const { type, llm_id, version } = isObject(agent.response_engine) ? agent.response_engine : {};
  if (type !== "retell-llm") return agent;
  const query = textOf(version) === undefined ? "" : `?version=${textOf(version)}`;
  const llm = await source.object(`/get-retell-llm/${encodeURIComponent(String(llm_id))}${query}`);
  return { ...agent, [LLM]: llm };
}
