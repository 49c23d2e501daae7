import type { JsonObject } from "../../platform/json/json-object";
import { isObject, objectsIn } from "../import/source";
import { linesOf } from "./lines";
import { ASSISTANT, VERSION } from "./selections";
import { isGone, UnreadableError } from "./server";
import { idsOf, withIds, type Export } from "./work";

/** Assistants per request: their prompts may be long. */
const AT_ONCE = 10;
const READ = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Assistant { ${ASSISTANT} } } }`;
const VERSIONS = `query ($id: ID!, $after: String) { assistant(id: $id) {
  versions(first: 20, after: $after, orderBy: OLDEST_FIRST) { nodes { ${VERSION} } pageInfo { endCursor hasNextPage } } } }`;

/** Exports the assistants as they are now, with their drafts. */
export async function exportAssistants({ server, writer, progress }: Export): Promise<void> {
  const ids = await idsOf(server, "assistants");
  writer.begin("assistants");
  const written = new Set<unknown>();
  for await (const { line } of linesOf(writer.pathOf("assistants"))) written.add(line.id);
  const left = ids.filter((id) => !written.has(id));
  for (let at = 0; at < left.length; at += AT_ONCE) {
    const asked = left.slice(at, at + AT_ONCE);
    const { data, errors } = await server.read(READ, { ids: asked });
    for (const { message, path, extensions } of errors.filter((one) => !isGone(one))) {
      const index = Number(path?.[1]);
      if (!Array.isArray(data.nodes)) throw new UnreadableError(extensions?.code ?? "", message);
      writer.gap(`A field of assistants was not read: ${message}`, asked[index]);
    }
    writer.append(objectsIn(data.nodes).map(withIds), null);
    progress(`assistants: ${written.size + at + asked.length} of ${ids.length}`);
  }
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
