import { originsOf } from "../../assistants/configurations/origins";
import { cleanName } from "../../assistants/files/describe";
import {
  MAX_EDGES,
  MAX_NODES,
  problemsOfEdge,
  problemsOfNode,
} from "../../conversation/workflows/part-rules";
import { counted, DomainError, quoted, type Problem } from "../../platform/errors";
import { jsonProblem, sizeProblem, textProblem } from "../../platform/json/storable";
import { isReadable } from "../../platform/ports/document-reader";
import type { Schemas } from "./check";
import type { LocalRecord } from "./folder";
import { isFields, sentValue, type Fields } from "./kinds";
import type { LocalFile } from "./resolve";
import type { Path } from "./yaml-file";

/** Fields whose values are any JSON, which the server stores as it is. */
const JSON_VALUES = [
  ["variables"],
  ["voice", "functions", "*"],
  ["sms", "functions", "*"],
  ["chat", "functions", "*"],
  ["nodes", "*", "arguments"],
  ["nodes", "*", "metadata"],
];

/** Lines about values that every server of this version refuses, although they suit the schema of the file. */
export function refusedValues(record: LocalRecord, maxFileBytes: number): string[] {
  const { file, fields } = record;
  const lines = [
    ...problemsIn(fields, []),
    ...wrongOrigins(fields),
    ...repeated(fields),
    ...wrongParts(fields),
  ].map(({ at, message }) => file.problemAt(at, `${at.join(".")} ${message}.`));
  return [...lines, ...wrongFiles(record, maxFileBytes)];
}

interface Refusal {
  readonly at: Path;
  readonly message: string;
}

function problemsIn(value: unknown, at: Path): Refusal[] {
  const plain = sentValue(value);
  if (typeof plain === "string") {
    const message = textProblem(plain) ?? sizeProblem(plain);
    return message === undefined ? [] : [{ at, message }];
  }
  if (typeof plain === "number" && !Number.isFinite(plain))
    return [{ at, message: "is a number out of range" }];
  const entries: (readonly [string | number, unknown])[] = Array.isArray(plain)
    ? [...plain.entries()]
    : isFields(plain)
      ? Object.entries(plain)
      : [];
  const inside = entries.flatMap(([name, one]) => problemsIn(one, [...at, name]));
  const isJson = JSON_VALUES.some(
    (path) => path.length === at.length && path.every((name, index) => name === "*" || name === at[index]),
  );
  const message = inside.length === 0 && isJson && isFields(plain) ? jsonProblem(plain) : undefined;
  return message === undefined ? inside : [{ at, message }];
}

function wrongOrigins({ allowedOrigins }: Fields): Refusal[] {
  if (!Array.isArray(allowedOrigins)) return [];
  try {
    originsOf(allowedOrigins as string[], "allowedOrigins");
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return (error.details ?? []).map(refusal([]));
  }
}

/** Values that the server would store once, so that the file never had what the server has. */
const repeated = (fields: Fields): Refusal[] =>
  ["allowedOrigins", "events"].flatMap((name) => {
    const list = (fields[name] ?? []) as readonly unknown[];
    return list.flatMap((value, index) => {
      const first = list.indexOf(value);
      return first < index ? [{ at: [name, index], message: `repeats ${name}.${first}` }] : [];
    });
  });

/** The problems of nodes and edges. */
function wrongParts({ nodes, edges }: Fields): Refusal[] {
  const ofNodes = Object.entries((nodes ?? {}) as Readonly<Record<string, Fields>>).flatMap(([name, node]) =>
    problemsOfNode(node).map(refusal(["nodes", name])),
  );
  const ofEdges = ((edges ?? []) as readonly Fields[]).flatMap((edge, index) =>
    problemsOfEdge({ kind: "DEFAULT", ...edge }).map(refusal(["edges", index])),
  );
  const tooMany = (name: string, list: object, max: number, noun: string): Refusal[] => {
    const count = Object.keys(list).length;
    return count > max
      ? [{ at: [name], message: `must have at most ${counted(max, noun)}; got ${count}` }]
      : [];
  };
  return [
    ...ofNodes,
    ...ofEdges,
    ...tooMany("nodes", nodes ?? {}, MAX_NODES, "node"),
    ...tooMany("edges", edges ?? [], MAX_EDGES, "edge"),
  ];
}

const refusal =
  (at: Path) =>
  ({ path, message }: Problem): Refusal => ({
    at: [...at, ...path.split(".").map((name) => (/^\d+$/.test(name) ? Number(name) : name))],
    message,
  });

/** Size of the largest file that a server takes, in bytes. A server of an earlier version does not say. */
export function maxFileBytes({ assistant }: Schemas): number {
  const { files } = (assistant as { properties: { files?: { items: { "x-maxBytes"?: number } } } })
    .properties;
  return files?.items["x-maxBytes"] ?? Infinity;
}

/** Lines about attached files that assistants cannot have. */
function wrongFiles({ file, fields }: LocalRecord, maxFileBytes: number): string[] {
  const files = (fields.files ?? []) as readonly LocalFile[];
  return files.flatMap(({ name, digest, type, size }, index) => {
    const clean = cleanName(name);
    const first = files.findIndex((one) => one.name === name && one.digest === digest);
    const refuse = (message: string) => [file.problemAt(["files", index], message)];
    if (clean !== name)
      return refuse(`A file cannot have the name ${quoted(name)}; give it the name ${quoted(clean)}.`);
    if (first < index) return refuse(`files.${first} is the same file: ${name} with the same content.`);
    if (size > maxFileBytes)
      return refuse(`${name} has ${size} bytes; files of this server may have ${maxFileBytes}.`);
    return isReadable(type) ? [] : refuse(`${name} is a file of type ${type}, which assistants cannot read.`);
  });
}
