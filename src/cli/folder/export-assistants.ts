import type { JsonObject } from "../../platform/json/json-object";
import { isObject, objectsIn } from "../import/source";
import type { GraphQLProblem } from "../import/target";
import { readOfOneVersion } from "../import/read-of-one-version";
import { linesOf } from "./lines";
import { ASSISTANT, VERSION } from "./selections";
import { isGone, UnreadableError, type Server } from "./server";
import { idsOf, withIds, type Export } from "./work";

/** Assistants per request: their prompts may be long. */
const AT_ONCE = 10;
const READ = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Assistant { ${ASSISTANT} } } }`;
const NUMBERS = "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Assistant { id version { number } } } }";
const VERSIONS = `query ($id: ID!, $after: String) { assistant(id: $id) {
  versions(first: 20, after: $after, orderBy: OLDEST_FIRST) { nodes { ${VERSION} } pageInfo { endCursor hasNextPage } } } }`;

/** Exports the assistants as they are now, with their drafts. */
export async function exportAssistants(work: Export): Promise<void> {
  const { server, writer, progress } = work;
  const ids = await idsOf(server, "assistants");
  writer.begin("assistants");
  const written = new Set<unknown>();
  for await (const { line } of linesOf(writer.pathOf("assistants"))) written.add(line.id);
  const left = ids.filter((id) => !written.has(id));
  for (let at = 0; at < left.length; at += AT_ONCE) {
    await exportSome(work, left.slice(at, at + AT_ONCE));
    progress(`assistants: ${written.size + Math.min(at + AT_ONCE, left.length)} of ${ids.length}`);
  }
}

async function exportSome({ server, writer }: Export, ids: readonly string[]): Promise<void> {
  /** By the ids of assistants; those that are about no assistant, by undefined. */
  const problems = new Map<string | undefined, readonly string[]>();
  const found = await readOfOneVersion(ids, {
    versionsOf: async (of) => {
      const { nodes } = await nodesOf(server, NUMBERS, of);
      return new Map(nodes.map(({ id, version }) => [id as string, (version as { number: number }).number]));
    },
    read: async (of) => {
      const { nodes, errors } = await nodesOf(server, READ, of);
      for (const id of [...of, undefined]) problems.set(id, messagesOf(errors, of, id));
      return nodes;
    },
  });
  for (const [id, messages] of problems)
    for (const message of messages) writer.gap(`A field of assistants was not read: ${message}`, id);
  for (const { record, isWhole } of found) if (!isWhole) writer.gap(CHANGING, record.id as string);
  writer.append(
    found.map(({ record }) => withIds(record)),
    null,
  );
}

const CHANGING = "The assistant changed each time it was read, so its fields may be of several versions.";

/** Messages of the errors about one assistant, in an answer about several. */
const messagesOf = (
  errors: readonly GraphQLProblem[],
  ids: readonly string[],
  id: string | undefined,
): string[] => errors.filter(({ path }) => ids[Number(path?.[1])] === id).map(({ message }) => message);

/** @throws UnreadableError */
async function nodesOf(server: Server, query: string, ids: readonly string[]) {
  const { data, errors: given } = await server.read(query, { ids });
  const errors = given.filter((one) => !isGone(one));
  const [error] = errors;
  if (error && !Array.isArray(data.nodes))
    throw new UnreadableError(error.extensions?.code ?? "", error.message);
  return { nodes: objectsIn(data.nodes), errors };
}

/** Exports the versions of the exported assistants, up to the one that each of them was at. */
export async function exportVersions(work: Export): Promise<void> {
  const { writer, progress } = work;
  writer.begin("versions");
  const written = new Map<unknown, number>();
  for await (const { line } of linesOf(writer.pathOf("versions")))
    written.set(line.assistantId, line.number as number);
  for await (const { line } of linesOf(writer.pathOf("assistants"))) {
    const current = isObject(line.version) ? (line.version.number as number) : 0;
    const from = written.get(line.id) ?? 0;
    if (from < current) await exportHistory(work, line.id as string, from, current);
    progress(`versions: ${writer.state.current!.records}`);
  }
}

/** @param from number of the last version that is written */
async function exportHistory(
  { server, writer }: Export,
  id: string,
  from: number,
  current: number,
): Promise<void> {
  for (let after: string | null = from === 0 ? null : `${id}.${from}`; ;) {
    const { data, errors } = await server.read(VERSIONS, { id, after });
    const [error] = errors;
    if (error && isGone(error)) return;
    if (error) throw new UnreadableError(error.extensions?.code ?? "", error.message);
    const { nodes, pageInfo } = (data.assistant as { versions: JsonObject }).versions;
    const lines = objectsIn(nodes).map((version) => ({ assistantId: id, ...version }));
    writer.append(
      lines.filter((line) => ((line as JsonObject).number as number) <= current),
      null,
    );
    const { endCursor, hasNextPage } = pageInfo as { endCursor: string | null; hasNextPage: boolean };
    if (!hasNextPage || lines.length === 0 || Number(endCursor?.slice(id.length + 1)) >= current) return;
    after = endCursor;
  }
}
