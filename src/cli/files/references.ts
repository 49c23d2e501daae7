import type { LocalRecord } from "./folder";
import type { Graph } from "./graph";
import { Expanded, isFields, KINDS, sentValue, textOf, type Fields, type Kind } from "./kinds";
import type { Names, Remote, RemoteRecord } from "./remote";
import type { Path } from "./yaml-file";

/** A record that another one names by its key. */
interface Reference {
  readonly kind: Kind;
  readonly key: string;
  readonly at: Path;
}

/** Lines about references to what neither the files nor the server have after the plan. @param pruned records that it deletes */
export function brokenReferences(
  local: readonly LocalRecord[],
  { records, names }: Remote,
  pruned: readonly RemoteRecord[],
): string[] {
  const kept = records.filter((one) => !pruned.includes(one));
  const problemsOf = (references: readonly Reference[], line: (at: Path, problem: string) => string) =>
    references.flatMap((reference) => {
      const { kind, key, at } = reference;
      if (has(local, reference) || has(kept, reference)) return [];
      const named = `${KINDS[kind].noun} "${key}"`;
      const problem = has(pruned, reference)
        ? `No file has ${named}, so --prune would delete it.`
        : `Neither the files nor the server have ${named}.`;
      return [line(at, problem)];
    });
  const ofFiles = local.flatMap((record) => [
    ...problemsOf(referencesOf(record.fields), (at, problem) => record.file.problemAt(at, problem)),
    ...problemsOf(lost(storedNodes(record, kept), pruned), (at, problem) =>
      record.file.problemAt(at, `The nodes that the server has stay. ${problem}`),
    ),
    ...unknownNames(record, names),
  ]);
  const withoutKey = kept.filter(({ key }) => key === null);
  const ofOthers = withoutKey.flatMap((record) =>
    problemsOf(lost([record], pruned), (_, problem) =>
      [
        `The ${KINDS[record.kind].noun} "${record.label}" of the server has no key, so it stays.`,
        problem,
      ].join(" "),
    ),
  );
  return [...ofFiles, ...ofOthers];
}

/** The references of stored records to those that are deleted. */
const lost = (records: readonly RemoteRecord[], pruned: readonly RemoteRecord[]): Reference[] =>
  records
    .flatMap((record) => [...referencesOf(record.fields), ...referencesOfGraph(record)])
    .filter((reference) => has(pruned, reference));

/** The stored workflow, if its nodes stay because the file has none. */
const storedNodes = ({ kind, key, fields }: LocalRecord, kept: readonly RemoteRecord[]): RemoteRecord[] =>
  kind === "workflow" && fields.nodes === undefined
    ? kept.filter((one) => one.kind === kind && one.key === key)
    : [];

const has = (records: readonly Pick<RemoteRecord, "kind" | "key">[], { kind, key }: Reference): boolean =>
  records.some((one) => one.kind === kind && one.key === key);

function referencesOf({ assistant, workflow, nodes }: Fields): Reference[] {
  const list = Object.entries((nodes ?? {}) as Readonly<Record<string, Fields>>);
  return [
    ...reference("assistant", assistant, ["assistant"]),
    ...reference("workflow", workflow, ["workflow"]),
    ...list.flatMap(([name, node]) => reference("assistant", node.assistant, ["nodes", name, "assistant"])),
  ];
}

/** The references of a stored graph. */
const referencesOfGraph = ({ fields: { graph } }: RemoteRecord): Reference[] =>
  isFields(graph)
    ? (graph as unknown as Graph).nodes.flatMap(({ fields }) =>
        reference("assistant", fields.assistant, ["nodes"]),
      )
    : [];

const reference = (kind: Kind, key: unknown, at: Path): Reference[] =>
  key == null ? [] : [{ kind, key: textOf(key), at }];

/** Lines about projects and numbers that the server does not have. */
function unknownNames({ fields: { project, number }, file }: LocalRecord, names: Names): string[] {
  const problems: string[] = [];
  const count = project == null ? 1 : (names.projects.get(textOf(project))?.length ?? 0);
  if (count === 0)
    problems.push(file.problemAt(["project"], `The server has no project "${textOf(project)}".`));
  if (count > 1)
    problems.push(file.problemAt(["project"], `The server has several projects "${textOf(project)}".`));
  if (number != null && !names.numbers.has(textOf(sentValue(number))))
    problems.push(
      file.problemAt(
        ["number"],
        `The number ${number instanceof Expanded ? number.form : textOf(number)} is not connected on the server.`,
      ),
    );
  return problems;
}
