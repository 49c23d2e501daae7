// The last step of each page's build: gives assets addresses that change with their content, and compresses files.
import { createHash } from "node:crypto";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Other types are compressed already, such as images. */
const COMPRESSED = [".css", ".html", ".js", ".json", ".svg", ".txt"];
/** Smaller files fit into one packet anyway. */
const MIN_BYTES = 1024;
/** Qualities of Brotli. The best one takes 6 ms for each kilobyte, the middle one for small files 1 ms. */
const QUALITY = { best: 11, small: 9, large: 5 };
const MAX_SMALL_BYTES = 200_000;
const VERSION_LENGTH = 16;

/** Copies of a file by the ending of their names. The server sends them to clients that accept their encoding. */
async function copiesOf(content, isBest) {
  const quality = isBest ? "best" : content.length > MAX_SMALL_BYTES ? "large" : "small";
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: QUALITY[quality],
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, { params }),
    promisify(gzip)(content),
  ]);
  return { ".br": br, ".gz": gz };
}

/** Replaces a file atomically, because a server may be reading it. */
async function put(path, content) {
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, content);
  await rename(unfinished, path);
}

/** Writes a file with its compressed copies. @param isBest whether its size matters more than the time of the build */
export async function publishFile(path, content, isBest = false) {
  const bytes = Buffer.from(content);
  await mkdir(dirname(path), { recursive: true });
  const isCompressed = COMPRESSED.includes(extname(path)) && bytes.length >= MIN_BYTES;
  const copies = isCompressed ? await copiesOf(bytes, isBest) : { ".br": undefined, ".gz": undefined };
  for (const [ending, copy] of Object.entries(copies))
    await (copy ? put(path + ending, copy) : rm(path + ending, { force: true }));
  await put(path, bytes);
}

/** A digest of all contents, by path. */
function versionOf(files) {
  const digest = createHash("sha256");
  for (const [path, content] of Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)))
    digest.update(`${path}\0${content.length}\0`).update(content);
  return digest.digest("hex").slice(0, VERSION_LENGTH);
}

/**
 * Writes assets into a folder that is named by a digest of them all, and the pages that refer to them. Assets refer to
 * each other by relative addresses. Folders of earlier builds are deleted.
 * @param folder contains the folder of each version
 * @param address address of `folder`, as the pages contain it
 * @param assets contents by path within the folder
 * @param pages texts by absolute path
 * @param isBest whether sizes matter more than the time of the build
 */
export async function publish({ folder, address, assets, pages, isBest }) {
  const version = versionOf(assets);
  const writeAll = (files) =>
    Promise.all(Object.entries(files).map(([path, content]) => publishFile(path, content, isBest)));
  await writeAll(mapKeys(assets, (path) => join(folder, version, path)));
  const versioned = (html) => html.replaceAll(`"${address}/`, `"${address}/${version}/`);
  await writeAll(Object.fromEntries(Object.entries(pages).map(([path, html]) => [path, versioned(html)])));
  for (const name of await readdir(folder))
    if (name !== version) await rm(join(folder, name), { recursive: true, force: true });
}

const mapKeys = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [change(key), value]));

/** Contents of esbuild's output files, by path within its `outdir`. */
export const outputsOf = ({ outputFiles }, outdir) =>
  Object.fromEntries(outputFiles.map(({ path, contents }) => [relative(outdir, path), contents]));
