import type { JsonObject } from "../../platform/json/json-object";
import { RefusedError } from "./http";
import { logOf } from "./log-of";
import { objectsIn, textOf } from "./source";
import { TargetError } from "./target";
import { defined, type Import } from "./work";

const STORE =
  "mutation ImportLogs($assistantId: ID!, $logs: [ImportLogInput!]!) { importLogs(assistantId: $assistantId, logs: $logs) { imported existing } }";
const LOGS = `query Logs($assistantId: ID!, $after: String) {
  logs(first: 100, after: $after, filter: { assistantId: $assistantId }) { nodes { id } pageInfo { endCursor hasNextPage } } }`;

/** Logs that are read at once. */
const AT_ONCE = 4;
/** Logs, and bytes of them, per mutation: the target takes 100 logs and 8 MiB. */
const MOST = { logs: 50, bytes: 4 * 1024 * 1024 };

/** Imports the logs of an assistant with their messages. Those that are here are not read again. */
export async function importLogs(work: Import, assistantId: string): Promise<void> {
  const { source, report, progress } = work;
  const stored = await storedLogIds(work, assistantId);
  const path = `/rest/v1/assistants/${encodeURIComponent(assistantId)}`;
  const batch = new LogBatch(work, assistantId);
  let waiting: JsonObject[] = [];
  const read = async () => {
    const logs = await Promise.all(waiting.map((item) => readLog(work, path, item)));
    waiting = [];
    for (const log of logs) if (log) await batch.add(log);
  };
  const finish = async () => {
    await read();
    await batch.send();
  };
  let count = 0;
  try {
    for await (const item of source.list(`${path}/logs`, "log", report)) {
      progress(`Logs of assistant ${assistantId}: ${++count}`);
      if (stored.has(textOf(item.id) ?? "")) report.unchanged("logs");
      else if (waiting.push(item) === AT_ONCE) await read();
    }
  } catch (error) {
    // The source may refuse a later page each time: the logs before it are stored nevertheless.
    if (error instanceof RefusedError) await finish();
    throw error;
  }
  await finish();
}

async function readLog(
  { source, report }: Import,
  path: string,
  item: JsonObject,
): Promise<JsonObject | undefined> {
  const id = textOf(item.id) ?? "";
  try {
    const log = await source.object(`${path}/log/${encodeURIComponent(id)}`);
    const { input, problems } = logOf(item, log);
    for (const problem of new Set(problems)) report[input ? "note" : "refuse"](problem, id);
    if (textOf(log.recordingUrl))
      report.note("The recording of this log stays at its address, and ends with it.", id);
    return input && defined(input);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    report.refuse(`This log was not read: ${error.message}`, id);
    return undefined;
  }
}

/** Logs that are stored together. */
export class LogBatch {
  private logs: JsonObject[] = [];
  private bytes = 0;

  constructor(
    private readonly work: Pick<Import, "target" | "report">,
    private readonly assistantId: string,
  ) {}

  async add(log: JsonObject): Promise<void> {
    const size = Buffer.byteLength(JSON.stringify(log));
    if (this.logs.length === MOST.logs || this.bytes + size > MOST.bytes) await this.send();
    this.logs.push(log);
    this.bytes += size;
  }

  /** If the target refuses one of the logs, each is sent alone, so that the others are stored. */
  async send(): Promise<void> {
    const { target } = this.work;
    const { logs, assistantId } = this;
    this.logs = [];
    this.bytes = 0;
    if (logs.length === 0) return;
    try {
      this.count(await target.run(STORE, { assistantId, logs }));
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      for (const log of logs) {
        const result = await target.store("log", log.id as string, STORE, { assistantId, logs: [log] });
        if (result) this.count(result);
      }
    }
  }

  private count({ importLogs: result }: JsonObject): void {
    const { imported, existing } = result as { imported: number; existing: string[] };
    if (imported > 0) this.work.report.stored("logs", imported);
    if (existing.length > 0) this.work.report.unchanged("logs", existing.length);
  }
}

/** Ids of the logs of an assistant that are here. */
async function storedLogIds({ target }: Import, assistantId: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after: unknown = null; ;) {
    const { logs } = await target.run(LOGS, { assistantId, after });
    const { nodes, pageInfo } = logs as JsonObject;
    for (const { id } of objectsIn(nodes)) ids.add(id as string); // an ID of GraphQL
    const { hasNextPage, endCursor } = pageInfo as JsonObject;
    if (hasNextPage !== true) return ids;
    after = endCursor;
  }
}
