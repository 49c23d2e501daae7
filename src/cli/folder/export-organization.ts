import { hash } from "node:crypto";
import { join } from "node:path";
import { currentDate } from "../../platform/clock";
import type { JsonObject } from "../../platform/json/json-object";
import { RefusedError } from "../import/http";
import { isObject, objectsIn } from "../import/source";
import { exportAssistants, exportVersions } from "./export-assistants";
import { exportFiles } from "./export-files";
import { exportLogs } from "./export-logs";
import { digestOf } from "./folder-writer";
import {
  FORMAT,
  FORMAT_VERSION,
  MANIFEST,
  NEVER_SHOWN,
  PART_NAMES,
  PARTS,
  REPORT,
  type Line,
  type Manifest,
  type Part,
  type PartEntry,
} from "./format";
import { linesOf } from "./lines";
import {
  DEPLOYMENT,
  DESTINATION,
  END_USER,
  KEY,
  ORGANIZATION,
  PROJECT,
  SETTINGS,
  TELEPHONY,
  WORKFLOW,
} from "./selections";
import { UnreadableError, type Server } from "./server";
import { exportList, withIds, type Export } from "./work";

/** The organization of the key. @throws UnreadableError */
export async function organizationOf(server: Server): Promise<Line> {
  const { organization } = await server.data(ORGANIZATION);
  return organization as Line;
}

/** Exports the parts that are not finished. */
export async function exportOrganization(work: Export, key: string): Promise<void> {
  const parts: Readonly<Record<Part, (work: Export) => Promise<void>>> = {
    organization: exportSettings,
    "telephony connections": listOf("telephony connections", "telephonyConnectionsConnection", TELEPHONY),
    deployments: listOf("deployments", "deploymentsConnection", DEPLOYMENT),
    workflows: exportWorkflows,
    assistants: exportAssistants,
    versions: exportVersions,
    projects: listOf("projects", "projectsConnection", PROJECT),
    "webhook destinations": exportDestinations,
    "API keys": (one) => exportKeys(one, key),
    files: exportFiles,
    logs: exportLogs,
    "end users": (one) =>
      exportList(one, { part: "end users", field: "endUsers", selection: END_USER, isKept: remembers }),
  };
  for (const part of PART_NAMES) if (!work.writer.isFinished(part)) await exportPart(work, part, parts[part]);
}

async function exportPart(work: Export, part: Part, run: (work: Export) => Promise<void>): Promise<void> {
  try {
    await run(work);
    work.writer.finish(part);
  } catch (error) {
    if (!(error instanceof UnreadableError || error instanceof RefusedError)) throw error;
    work.writer.skip(part, `No ${part}: ${error.message}`);
  }
}

/** Whether assistants remember anything of a person. */
const remembers = ({ facts }: JsonObject): boolean => objectsIn(facts).length > 0;

const listOf = (part: Part, field: string, selection: string) => (work: Export) =>
  exportList(work, { part, field, selection });

async function exportSettings({ server, writer }: Export): Promise<void> {
  const organization = await organizationOf(server);
  const { data, errors } = await server.read(SETTINGS);
  const { retention } = isObject(data.organization) ? data.organization : {};
  for (const { message } of errors) writer.gap(`A field of the organization was not read: ${message}`);
  writer.begin("organization", true);
  const { modelCredentials, modelMappings } = data;
  writer.append([{ ...organization, retention, modelCredentials, modelMappings }], null);
}

const exportWorkflows = (work: Export): Promise<void> =>
  exportList(
    work,
    { part: "workflows", field: "workflowsConnection", selection: WORKFLOW, take: 10 },
    (workflow) => ({
      ...withIds(workflow),
      nodes: objectsIn(workflow.nodes).map(withIds),
    }),
  );

/** Exports the webhook destinations of the organization, then those of its projects. */
async function exportDestinations({ server, writer }: Export): Promise<void> {
  const query = `query ($projectId: ID) { webhookDestinations(projectId: $projectId) { ${DESTINATION} } }`;
  writer.begin("webhook destinations", true);
  const written = new Set<unknown>();
  const read = async (projectId: unknown) => {
    const { data, errors } = await server.read(query, { projectId });
    const [error] = errors;
    if (error?.extensions?.code === "PROJECT_NOT_FOUND") return; // deleted meanwhile
    if (error) throw new UnreadableError(error.extensions?.code ?? "", error.message);
    // One that gets a project meanwhile stands in both lists.
    const left = objectsIn(data.webhookDestinations).filter(({ id }) => !written.has(id));
    for (const { id } of left) written.add(id);
    writer.append(left.toReversed().map(withIds), null);
  };
  await read(null);
  for await (const { line } of linesOf(writer.pathOf("projects"))) await read(line.id);
}

async function exportKeys(work: Export, value: string): Promise<void> {
  let isLimited = false;
  await exportList(work, { part: "API keys", field: "keysConnection", selection: KEY }, (key) => {
    isLimited ||= key.value === value && (key.permissions !== null || key.assistantIds !== null);
    return key;
  });
  if (isLimited)
    work.writer.gap(
      "The key of the export has limits: keys that may do more are missing. Use one without limits.",
    );
}

/** Writes the report and, as the last file, the manifest. */
export async function completeExport({ writer }: Export): Promise<Manifest> {
  const { state, gaps, folder } = writer;
  const files: Record<string, PartEntry> = {};
  for (const part of PART_NAMES)
    if (state.finished[part] !== undefined)
      files[PARTS[part]] = { records: state.finished[part], ...(await digestOf(join(folder, PARTS[part]))) };
  const report = json({ notRead: gaps, neverShown: NEVER_SHOWN });
  writer.write(REPORT, report);
  const manifest: Manifest = {
    ...{ format: FORMAT, formatVersion: FORMAT_VERSION },
    ...{ organizationId: state.organizationId, source: state.source },
    ...{ startedAt: state.startedAt, finishedAt: currentDate().toISOString() },
    complete: gaps.length === 0,
    files: {
      ...files,
      [REPORT]: {
        records: gaps.length,
        bytes: Buffer.byteLength(report),
        sha256: hash("sha256", report, "hex"),
      },
    },
  };
  writer.complete(MANIFEST, json(manifest));
  return manifest;
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;
