import { changedFields, changesBetween, equal, type Change } from "./changes";
import { shownChanges } from "./shown-changes";
import { conflictsInFiles } from "./file-conflicts";
import type { LocalRecord } from "./folder";
import { fieldsOfGraph, namesOfNodes, shortEdge, shortNode, type Graph, type NamedGraph } from "./graph";
import { KIND_NAMES, Secret, type Fields } from "./kinds";
import { pinnedVersions } from "./pinned-versions";
import { FileProblems } from "./problems";
import { brokenReferences } from "./references";
import type { Reading, Remote, RemoteRecord } from "./remote";
import { withStoredSecrets } from "./stored-secrets";
import { unknownFunctions } from "./unknown-functions";
import { secretOf } from "./webhooks";

/** A change of one record of the server. */
export interface Step {
  readonly action: "create" | "update" | "delete";
  readonly record: Pick<RemoteRecord, "kind"> & { readonly key: string };
  /** Undefined for a record that is deleted. */
  readonly local?: LocalRecord;
  /** Undefined for a new record. */
  readonly remote?: RemoteRecord;
  readonly changes: readonly Change[];
  /** The fields to send; records, projects and numbers are still named as in files. */
  readonly fields: Fields;
  readonly graph?: NamedGraph;
}

export interface Plan {
  readonly steps: readonly Step[];
  /** Records with a key that no file has, and that stay. */
  readonly others: readonly RemoteRecord[];
  /** Lines about values of files that are allowed, but probably not meant. */
  readonly warnings: readonly string[];
  /** Assistants of files, or to delete, that have a draft. */
  readonly drafts: readonly RemoteRecord[];
}

/** The changes after which the server has what the files say. @throws FileProblems, RequestError */
export async function makePlan(
  local: readonly LocalRecord[],
  remote: Remote,
  reading: Reading,
  prune: boolean,
): Promise<Plan> {
  const others = remote.records.filter(
    ({ kind, key }) => key !== null && !local.some((one) => one.kind === kind && one.key === key),
  );
  const problems = [
    ...conflictsInFiles(local, remote.records),
    ...brokenReferences(local, remote, prune ? others : []),
  ];
  const steps: Step[] = [];
  for (const record of inOrder(local)) {
    const step = await stepFor(record, remote, reading, problems);
    if (step) steps.push(step);
  }
  const pinned = await pinnedVersions(local, remote, steps, reading);
  problems.push(...pinned.problems);
  if (problems.length > 0) throw new FileProblems(problems);
  const warnings = [
    ...local.flatMap((record) => record.warnings),
    ...pinned.warnings,
    ...unknownFunctions(local, remote.records),
  ];
  const isNamed = (one: RemoteRecord) => one.key !== null && (prune || !others.includes(one));
  const drafts = remote.records.filter((one) => one.draft !== undefined && isNamed(one));
  return prune
    ? { steps: [...steps, ...inOrder(others).reverse().map(deletion)], others: [], warnings, drafts }
    : { steps, others, warnings, drafts };
}

const inOrder = <T extends Pick<RemoteRecord, "kind">>(records: readonly T[]): T[] =>
  KIND_NAMES.flatMap((kind) => records.filter((record) => record.kind === kind));

const deletion = (remote: RemoteRecord): Step => ({
  action: "delete",
  record: { kind: remote.kind, key: remote.key! }, // only records with a key are deleted
  remote,
  changes: [],
  fields: {},
});

async function stepFor(
  local: LocalRecord,
  { records }: Remote,
  reading: Reading,
  problems: string[],
): Promise<Step | undefined> {
  const { kind, key } = local;
  const stored = records.find((one) => one.kind === kind && one.key === key);
  const { after, before, graph } = await compared(local, stored, reading, problems);
  const changes = changesBetween(after, before);
  const step = { record: { kind, key }, local, ...(stored && { remote: stored }), ...(graph && { graph }) };
  if (!stored) return { ...step, action: "create", changes: [], fields: after };
  if (changes.length === 0) return undefined;
  const changed = changedFields(changes);
  const fields = graph ? withGraph(changed, after) : withVersion(changed, after);
  return { ...step, action: "update", changes: await shownChanges(changes), fields };
}

/** A new assistant of a deployment clears its version, so the version is sent with it. */
const withVersion = (changed: Fields, { assistantVersion }: Fields): Fields =>
  "assistant" in changed && assistantVersion !== undefined ? { ...changed, assistantVersion } : changed;

/** Nodes and edges are changed together, because edges name nodes. */
function withGraph({ nodes, edges, ...fields }: Fields, after: Fields): Fields {
  return nodes === undefined && edges === undefined
    ? fields
    : { ...fields, nodes: after.nodes, edges: after.edges };
}

interface Compared {
  readonly after: Fields;
  readonly before: Fields;
  readonly graph?: NamedGraph;
}

async function compared(
  local: LocalRecord,
  stored: RemoteRecord | undefined,
  { connection }: Reading,
  problems: string[],
): Promise<Compared> {
  const { key: _, ...fields } = local.fields;
  const before = stored?.fields ?? {};
  if (local.kind === "assistant")
    return { after: withStoredSecrets(local, fields, stored?.fields, problems), before };
  if (local.kind === "workflow") return comparedGraph(fields, before);
  if (local.kind === "deployment") return { after: fields, before };
  const { secret, ...rest } = fields;
  if (secret instanceof Secret && secret.value !== undefined) {
    const known = stored ? new Secret(await secretOf(connection, stored.id)) : undefined;
    return { after: fields, before: { ...before, secret: known } };
  }
  if (!stored) problems.push(local.file.problemAt(["secret"], missingSecret(secret)));
  return { after: rest, before };
}

const missingSecret = (secret: unknown): string =>
  secret instanceof Secret
    ? `The environment variable ${secret.variable} is not set, and the server has no such webhook destination yet.`
    : "A webhook destination that the server does not have yet must have the field secret, such as ${WEBHOOK_SECRET}.";

function comparedGraph({ nodes, edges, ...fields }: Fields, { graph, ...before }: Fields): Compared {
  const known = (graph ?? { nodes: [], edges: [] }) as Graph;
  const wanted = (nodes ?? {}) as Readonly<Record<string, Fields>>;
  const names = namesOfNodes(known, wanted);
  const stored = fieldsOfGraph(known, names);
  const listed = (edges as readonly Fields[] | undefined)?.map(shortEdge);
  return {
    after: {
      ...fields,
      ...(nodes !== undefined && {
        nodes: Object.fromEntries(Object.entries(wanted).map(([name, node]) => [name, shortNode(node)])),
      }),
      ...(listed && { edges: inStoredOrder(listed, stored.edges as readonly Fields[]) }),
    },
    before: { ...before, ...stored },
    graph: { graph: known, names },
  };
}

/** The server orders edges by their ranks, so the order of a file does not matter. */
function inStoredOrder(edges: readonly Fields[], stored: readonly Fields[]): Fields[] {
  const left = [...edges];
  const same = stored.flatMap((edge) => {
    const index = left.findIndex((one) => equal(one, edge));
    return index < 0 ? [] : left.splice(index, 1);
  });
  return [...same, ...left];
}
