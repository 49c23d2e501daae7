import type { JsonObject } from "../../platform/json/json-object";
import { isObject, objectsIn } from "../import/source";
import type { FolderWriter } from "./folder-writer";
import type { Line, Part } from "./format";
import { isGone, UnreadableError, type Server } from "./server";

/** Everything that the parts of an export use. */
export interface Export {
  readonly server: Server;
  readonly writer: FolderWriter;
  readonly progress: (line: string) => void;
}

/** A list of GraphQL, in pages. */
interface List {
  readonly part: Part;
  readonly field: string;
  readonly selection: string;
  readonly take?: number;
  /** Whether a record is written. Default: all are. */
  readonly isKept?: (record: JsonObject) => boolean;
}

const REFERENCES = ["project", "assistant", "workflow"];

/** A record whose references are ids, such as `projectId` in place of `project`. */
export const withIds = (record: JsonObject): Line =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) =>
      REFERENCES.includes(name) ? [`${name}Id`, isObject(value) ? value.id : null] : [name, value],
    ),
  );

/** Exports a list in pages, oldest record first. */
export async function exportList(
  { server, writer, progress }: Export,
  { part, field, selection, take = 100, isKept = () => true }: List,
  lineOf: (record: JsonObject) => Line = withIds,
): Promise<void> {
  const query = `query ($after: String) { list: ${field}(first: ${take}, after: $after, orderBy: OLDEST_FIRST) {
    nodes { ${selection} } pageInfo { endCursor hasNextPage } } }`;
  let place = writer.begin(part);
  for (let isLast = false; !isLast; place = writer.state.current!) {
    const { data, errors } = await server.read(query, { after: place.cursor });
    const list = data.list as {
      nodes: unknown;
      pageInfo: { endCursor: string; hasNextPage: boolean };
    } | null;
    if (!list && place.cursor !== null && errors[0]?.extensions?.code === "BAD_USER_INPUT") {
      writer.begin(part, true); // the record of the cursor is gone
      continue;
    }
    if (!list) throw new UnreadableError(errors[0]?.extensions?.code ?? "", errors[0]?.message ?? "No list.");
    for (const { message } of errors.filter((one) => !isGone(one)))
      writer.gap(`A field of ${part} was not read: ${message}`);
    writer.append(objectsIn(list.nodes).filter(isKept).map(lineOf), list.pageInfo.endCursor);
    progress(`${part}: ${writer.state.current!.records}`);
    isLast = !list.pageInfo.hasNextPage;
  }
}

/** Passes over a list that changes meanwhile; the last one is taken as it is. */
const MOST_PASSES = 5;

/** The ids of a list that has numbered pages, oldest first. A record that a pass skips, because another one was deleted, is found by the next. */
export async function idsOf(server: Server, field: string): Promise<string[]> {
  const query = `query ($page: Int!) { list: ${field}(order: asc, page: $page, take: 100) {
    data { id } meta { itemCount hasNextPage } } }`;
  const found = new Set<string>();
  for (let pass = 1; pass <= MOST_PASSES; pass++) {
    const counts = new Set<number>();
    for (let page = 1, hasMore = true; hasMore; page++) {
      const { list } = (await server.data(query, { page })) as {
        list: { data: { id: string }[]; meta: { itemCount: number; hasNextPage: boolean } };
      };
      for (const { id } of list.data) found.add(id);
      counts.add(list.meta.itemCount);
      hasMore = list.meta.hasNextPage;
    }
    if (counts.size === 1) break;
  }
  return [...found];
}
