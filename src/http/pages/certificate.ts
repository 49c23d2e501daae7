import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Router } from "express";
import { lexicographicSortSchema, printSchema, type GraphQLSchema } from "graphql";
import { counted, DomainError } from "../../platform/errors";
import { escapeHtml, sendPlainPage } from "./plain-page";

/** A REST row in the certificate. */
interface CertifiedRow {
  readonly row: string;
  readonly request: string;
  /** The fields of GraphQL that do the same, or the reason why there are none. */
  readonly counterpart: string;
  readonly cases: number;
  /** Rules of the REST contract alone. */
  readonly documented: readonly string[];
  readonly differences: readonly string[];
}

/** An operation of GraphQL in the certificate. */
interface CertifiedOperation {
  readonly operation: string;
  readonly kind: string;
  /** The record or answer with which its answer was compared. */
  readonly checked: string;
  readonly differences: readonly string[];
}

/** SHA-256 of what a server and its certificate must have in common. */
export type BuildDigests = Readonly<Record<"schema" | "routes", string>>;

/** The file of `npm run certificate`: the comparison of both interfaces for one revision. */
export interface Certificate {
  readonly version: string;
  readonly date: string;
  /** The commit in git; empty outside a repository. */
  readonly revision: string;
  /** Whether files differed from the commit. */
  readonly changed: boolean;
  /** Whether nothing differs. */
  readonly identical: boolean;
  readonly cases: number;
  /** SHA-256 of the documents of the interfaces and of the results. */
  readonly digests: BuildDigests & Readonly<Record<"openApi" | "asyncApi" | "results", string>>;
  readonly rows: readonly CertifiedRow[];
  readonly operations: readonly CertifiedOperation[];
  readonly deliveries: { readonly deliveries: number; readonly differences: readonly string[] };
}

/**
 * Serves the certificate of the build at /certificate, as a page or as JSON, and at /certificate.json.
 * @param file path of the certificate
 * @param routes the rows of REST, with which and the schema the certificate must agree
 */
export function certificatePages(file: string, schema: GraphQLSchema, routes: readonly object[]): Router {
  let own: BuildDigests | undefined;
  const isOfBuild = ({ digests }: Certificate): boolean => {
    own ??= buildDigests(schema, routes);
    return own.schema === digests.schema && own.routes === digests.routes;
  };
  const router = Router();
  router.get("/certificate.json", (_req, res) => {
    const certificate = read(file);
    res.json({ ...certificate, ofThisBuild: isOfBuild(certificate) });
  });
  router.get("/certificate", (req, res) => {
    res.vary("Accept");
    const certificate = read(file);
    const ofThisBuild = isOfBuild(certificate);
    if (req.accepts(["json", "html"]) !== "html") return void res.json({ ...certificate, ofThisBuild });
    sendPlainPage(res, 200, "Parity certificate", contentOf(certificate, ofThisBuild));
  });
  return router;
}

/** @param routes the rows of REST as written, without the settings of a server */
export const buildDigests = (schema: GraphQLSchema, routes: readonly object[]): BuildDigests => ({
  schema: digestOf(`${printSchema(lexicographicSortSchema(schema))}\n`), // as in schema/schema.graphql
  routes: digestOf(JSON.stringify(routes)),
});

const digestOf = (text: string): string => hash("sha256", text, "hex");

/** @throws NOT_FOUND */
function read(file: string): Certificate {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Certificate;
  } catch {
    throw new DomainError(
      "NOT_FOUND",
      "This build has no parity certificate. Run `npm run certificate` in a checkout. See /docs/certificate.",
    );
  }
}

function contentOf(certificate: Certificate, ofThisBuild: boolean): string {
  const { version, date, revision, changed, identical, cases, digests, rows, operations, deliveries } =
    certificate;
  const all = [...rows, ...operations, deliveries];
  const differences = all.reduce((sum, one) => sum + one.differences.length, 0);
  const facts = {
    Result: identical
      ? "Both interfaces agree."
      : `The interfaces differ in ${counted(differences, "place")}.`,
    Server: ofThisBuild
      ? "The schema and the REST rows of this server are the certified ones."
      : "This certificate is not of this server: its schema or REST rows differ, because of another build or model catalog.",
    Version: `${version}, revision ${revision || "unknown"}${changed ? ", with changed files" : ""}`,
    Date: date,
    Compared: `${rows.length} REST rows in ${cases} cases, ${operations.length} GraphQL operations, ${deliveries.deliveries} webhook deliveries`,
    ...Object.fromEntries(Object.entries(digests).map(([name, hex]) => [`Digest of ${NAMES[name]!}`, hex])),
  };
  return `<h1>Parity certificate</h1>
<p>REST and GraphQL got the same requests, on two servers with the same data. Answers, errors, order and side effects were compared. <a href="/docs/certificate">How it is made</a>, <a href="/certificate.json">as JSON</a>.</p>
<dl>${Object.entries(facts)
    .map(([name, text]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(text)}</dd>`)
    .join("")}</dl>
<h2>REST rows</h2><ul>${rows.map(rowItem).join("")}</ul>
<h2>GraphQL operations</h2><ul>${operations.map(operationItem).join("")}</ul>`;
}

const NAMES: Readonly<Record<string, string>> = {
  schema: "the GraphQL schema",
  routes: "the REST rows",
  openApi: "the OpenAPI document",
  asyncApi: "the AsyncAPI document",
  results: "the results",
};

const rowItem = ({ request, counterpart, cases, documented, differences }: CertifiedRow): string => {
  const text = cases > 0 ? `${counterpart}: ${counted(cases, "case")}` : `${counterpart}: no counterpart`;
  const own = documented.length > 0 ? [`Own rules of REST for: ${documented.map(kindOf).join(", ")}`] : [];
  return item(request, text, [...own, ...differences]);
};

/** The credential that a documented difference is about. */
const kindOf = (documented: string): string => documented.split(":", 1)[0]!;

const operationItem = ({ operation, checked, differences }: CertifiedOperation): string =>
  item(operation, checked, differences);

const item = (name: string, text: string, differences: readonly string[]): string =>
  `<li><code>${escapeHtml(name)}</code>${[text, ...differences].map((line) => `<span>${escapeHtml(line)}</span>`).join("")}</li>`;
