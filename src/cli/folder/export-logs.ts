import type { JsonObject } from "../../platform/json/json-object";
import { RefusedError } from "../import/http";
import { isObject, objectsIn } from "../import/source";
import type { GraphQLProblem } from "../import/target";
import type { Line } from "./format";
import { CALL, ENTRY, LOG } from "./selections";
import { isGone, UnreadableError } from "./server";
import type { Export } from "./work";

/** Logs per request: a document may have 15 aliases, two for each log. */
const MOST_LOGS = 7;
/** Requests at once, and messages of all their logs. */
const AT_ONCE = { requests: 4, messages: 1_000 };
const LIST = `query ($after: String) { logs(first: 100, after: $after, orderBy: OLDEST_FIRST) {
  edges { cursor node { ${ENTRY} } } pageInfo { hasNextPage } } }`;

interface Edge {
  readonly cursor: string;
  readonly node: JsonObject & { readonly id: string; readonly messageCount: number };
}

/** Exports the logs with their messages and calls, oldest first. */
export async function exportLogs(work: Export): Promise<void> {
  const { server, writer, progress } = work;
  let place = writer.begin("logs");
  for (let isLast = false; !isLast; place = writer.state.current!) {
    const { data, errors } = await server.read(LIST, { after: place.cursor });
    if (!data.logs && place.cursor !== null && errors[0]?.extensions?.code === "BAD_USER_INPUT") {
      writer.begin("logs", true); // the log of the cursor is gone
      continue;
    }
    if (!data.logs)
      throw new UnreadableError(errors[0]?.extensions?.code ?? "", errors[0]?.message ?? "No list.");
    for (const { message } of errors.filter((one) => !isGone(one)))
      writer.gap(`A field of logs was not read: ${message}`);
    const { edges, pageInfo } = data.logs as { edges: Edge[]; pageInfo: { hasNextPage: boolean } };
    for (const group of groupsOf(edges)) {
      const batches = Array.from({ length: Math.ceil(group.length / MOST_LOGS) }, (_, index) =>
        group.slice(index * MOST_LOGS, (index + 1) * MOST_LOGS),
      );
      const lines = await Promise.all(batches.map((batch) => readBatch(work, batch)));
      writer.append(lines.flat(), group.at(-1)!.cursor);
      progress(`logs: ${writer.state.current!.records}`);
    }
    isLast = !pageInfo.hasNextPage;
  }
}

/** Logs that are read at once. */
function groupsOf(edges: readonly Edge[]): Edge[][] {
  const groups: Edge[][] = [];
  let messages = Infinity;
  for (const edge of edges) {
    const isFull =
      messages + edge.node.messageCount > AT_ONCE.messages ||
      groups.at(-1)?.length === AT_ONCE.requests * MOST_LOGS;
    if (isFull) groups.push([]);
    messages = (isFull ? 0 : messages) + edge.node.messageCount;
    groups.at(-1)!.push(edge);
  }
  return groups;
}

/** Reads logs together; if that fails, one after the other, so that the others are exported. */
async function readBatch(work: Export, batch: readonly Edge[]): Promise<Line[]> {
  try {
    return await readLogs(work, batch);
  } catch (error) {
    if (!(error instanceof RefusedError || error instanceof UnreadableError)) throw error;
    if (batch.length > 1) return (await inTurn(batch, (one) => readBatch(work, [one]))).flat();
    work.writer.gap(`This log was not read: ${error.message}`, batch[0]!.node.id);
    return [];
  }
}

async function inTurn<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await run(item));
  return results;
}

async function readLogs({ server, writer }: Export, batch: readonly Edge[]): Promise<Line[]> {
  const { data, errors } = await server.read(queryOf(batch), variablesOf(batch));
  const [refusal] = errors.filter(({ path }) => path === undefined);
  if (refusal) throw new UnreadableError(refusal.extensions?.code ?? "", refusal.message);
  const problems = errors.filter((error) => !isOfDeleted(error));
  const [unclear] = problems.filter(isGone);
  if (unclear && batch.length > 1) throw new UnreadableError(unclear.extensions!.code!, unclear.message);
  for (const { message, path } of problems) {
    const index = Number(String(path?.[0]).slice(1));
    writer.gap(`A field of logs was not read: ${message}`, batch[index]?.node.id);
  }
  return batch.flatMap(({ node }, index) => {
    const [log, call] = [data[`l${index}`], data[`c${index}`]];
    return isObject(log) ? [lineOf(node, log, isObject(call) ? call : null)] : []; // deleted meanwhile, or listed
  });
}

/** Whether an error says that a log or call was deleted meanwhile, and not something that it names. */
const isOfDeleted = (error: GraphQLProblem): boolean => isGone(error) && error.path?.length === 1;

const queryOf = (batch: readonly Edge[]): string => {
  const parts = batch.map(
    ({ node }, index) => `l${index}: log(assistantId: $a${index}, id: $i${index}) { ${LOG} }
      ${node.type === "VOICE" ? `c${index}: call(id: $i${index}) { ${CALL} }` : ""}`,
  );
  const variables = batch.map((_, index) => `$a${index}: ID!, $i${index}: ID!`);
  return `query (${variables.join(", ")}) { ${parts.join("\n")} }`;
};

const variablesOf = (batch: readonly Edge[]): JsonObject =>
  Object.fromEntries(
    batch.flatMap(({ node }, index) => [
      [`a${index}`, node.assistantId],
      [`i${index}`, node.id],
    ]),
  );

/** A version by its assistant and number; its id consists of both. */
const versionOf = ({ id, number }: JsonObject): JsonObject => ({
  assistantId: String(id).replace(/\.\d+$/, ""),
  number,
});

function lineOf(
  { chat, messageCount: _count, ...entry }: JsonObject,
  log: JsonObject,
  call: Line | null,
): Line {
  const { user, versions: listed, ...facts }: JsonObject = isObject(chat) ? chat : {};
  const uniqueId = isObject(user) ? user.uniqueId : null;
  const versions = facts.workflowId === null ? null : objectsIn(listed).map(versionOf);
  const { messages, ...others } = log;
  const items = isObject(messages) ? messages.items : [];
  return { ...entry, ...facts, versions, uniqueId, ...others, call, messages: items };
}
