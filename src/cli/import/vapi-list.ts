import type { JsonObject } from "../../platform/json/json-object";
import { RefusedError } from "./http";
import type { Report } from "./report";
import { isObject, listIn, objectsIn, required, textOf, type Source } from "./source";

const PAGE_SIZE = 100;
/** Assistants that the vendor lists at once. */
const MOST_IN_PAGE = 1_000;

/** All assistants with the tools that they name, oldest first. */
export async function readAll(source: Source, report: Report): Promise<unknown[]> {
  const complete: unknown[] = [];
  for (const one of (await readList(source, report)).toReversed())
    complete.push(
      isObject(one)
        ? await withTools(source, one, (reason) => report.refuse(reason, textOf(one.id) ?? ""))
        : one,
    );
  return complete;
}

/** The list of assistants, newest first in pages. Each page begins with the time at which the one before it ends. */
async function readList(source: Source, report: Report): Promise<unknown[]> {
  const all = new Map<unknown, unknown>();
  let [limit, bound, time] = [PAGE_SIZE, "createdAtLe", ""];
  for (;;) {
    const path = `/assistant?limit=${limit}${time && `&${bound}=${encodeURIComponent(time)}`}`;
    const page = await required(async () => listIn(await source.json(path), path, "results"));
    const fresh = page.filter((one) => !all.has(idOf(one)));
    for (const one of fresh) all.set(idOf(one), one);
    if (page.length < limit || (bound === "createdAtLt" && fresh.length === 0)) break;
    const last = textOf(objectsIn(page).at(-1)?.createdAt) ?? "";
    if (last === "") {
      report.refuse("The source lists assistants without createdAt: those after the first page are missing.");
      break;
    }
    // A page full of assistants of one moment hides the others of that moment.
    const isFull = last === time;
    if (isFull && limit === MOST_IN_PAGE)
      report.refuse(
        `The source has more than ${MOST_IN_PAGE} assistants with createdAt ${time}: the others are missing.`,
      );
    bound = isFull && limit === MOST_IN_PAGE ? "createdAtLt" : "createdAtLe";
    limit = isFull ? MOST_IN_PAGE : PAGE_SIZE;
    time = last;
  }
  return [...all.values()];
}

/** Identifies an entry: its id or, without one, the object itself. */
const idOf = (entry: unknown): unknown => (isObject(entry) ? (textOf(entry.id) ?? entry) : entry);

/** The assistant with the tools that it names by their ids. */
async function withTools(
  source: Source,
  assistant: JsonObject,
  refuse: (reason: string) => void,
): Promise<JsonObject> {
  const model = assistant.model as JsonObject | undefined; // checked by its fields
  const ids: unknown[] = Array.isArray(model?.toolIds) ? model.toolIds : [];
  const tools = Array.isArray(model?.tools) ? [...(model.tools as unknown[])] : [];
  const left: unknown[] = [];
  for (const id of ids)
    try {
      tools.push(await source.object(`/tool/${encodeURIComponent(String(id))}`));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      refuse(`A tool was not read: ${error.message}`);
      left.push(id);
    }
  return ids.length === 0 ? assistant : { ...assistant, model: { ...model, tools, toolIds: left } };
}
