import { hash } from "node:crypto";
import type { JsonObject } from "../../platform/json/json-object";
import { RefusedError } from "../import/http";
import { objectsIn } from "../import/source";
import { CONTENTS, type Line } from "./format";
import { linesOf } from "./lines";
import { FILE } from "./selections";
import { UnreadableError } from "./server";
import { idsOf, type Export } from "./work";

const AT_ONCE = 20;
const READ = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on File { ${FILE} url } } }`;
/** Ids that are names of files on every system. */
const PLAIN = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** Exports the records of files, and their contents into a folder. */
export async function exportFiles(work: Export): Promise<void> {
  const { server, writer, progress } = work;
  const ids = await idsOf(server, "files");
  writer.begin("files");
  const written = new Set<unknown>();
  for await (const { line } of linesOf(writer.pathOf("files"))) written.add(line.id);
  const left = ids.filter((id) => !written.has(id));
  for (let at = 0; at < left.length; at += AT_ONCE) {
    const { data, errors } = await server.read(READ, { ids: left.slice(at, at + AT_ONCE) });
    const [error] = errors.filter(({ extensions }) => extensions?.code !== "NODE_NOT_FOUND");
    if (error) throw new UnreadableError(error.extensions?.code ?? "", error.message);
    for (const [index, file] of objectsIn(data.nodes).entries()) {
      const line = await exportFile(work, file);
      if (line) writer.append([line], null);
      progress(`files: ${written.size + at + index + 1} of ${ids.length}`);
    }
  }
}

async function exportFile(
  { server, writer }: Export,
  { url, ...file }: JsonObject,
): Promise<Line | undefined> {
  const id = file.id as string;
  try {
    const content = await server.content(url as string, file.size as number);
    if (content.length !== file.size)
      throw new UnreadableError("", `It has ${content.length} bytes instead of ${String(file.size)}.`);
    const sha256 = hash("sha256", content, "hex");
    const name = `${CONTENTS}/${PLAIN.test(id) ? id : `_${hash("sha256", id, "hex")}`}`;
    writer.write(name, content);
    return { ...file, content: name, sha256 };
  } catch (error) {
    if (!(error instanceof UnreadableError || error instanceof RefusedError)) throw error;
    writer.gap(`The content of this file was not read: ${error.message}`, id);
    return undefined;
  }
}
