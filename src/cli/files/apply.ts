import { createAssistant, updateAssistant } from "./assistants";
import { RequestError, type Connection } from "./connection";
import { createDeployment, updateDeployment } from "./deployments";
import { KINDS, sentValue, textOf, type Fields, type Kind } from "./kinds";
import { masked } from "./masked";
import type { Step } from "./plan";
import { titleOf } from "./print-plan";
import { FileProblems } from "./problems";
import type { Reading, Remote, RemoteRecord } from "./remote";
import { isUnchanged } from "./unchanged";
import { createWebhook, updateWebhook } from "./webhooks";
import { createWorkflow, updateWorkflow } from "./workflows";
import type { Path, Remark } from "./yaml-file";

const DELETIONS: Readonly<Record<Kind, string>> = {
  assistant: "deleteAssistant",
  webhook: "deleteWebhookDestination",
  workflow: "deleteWorkflow",
  deployment: "deleteDeployment",
};
const DONE = { create: "Created", update: "Changed", delete: "Deleted" } as const;

/** Makes the changes of a plan, one record after the other. */
export class Application {
  /** Ids by kind and key. */
  private readonly ids: Map<string, string>;

  constructor(
    private readonly reading: Reading,
    private readonly remote: Remote,
    private readonly print: (line: string) => void,
  ) {
    this.ids = new Map(remote.records.map(({ kind, key, id }) => [`${kind} ${key}`, id]));
  }

  /**
   * Prints each change, and what the server says about its values.
   * @throws FileProblems about a value that the server refuses, Error if a record has changed meanwhile
   */
  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      const problems = await this.make(step).catch((error: unknown) => {
        throw error instanceof RequestError ? refusal(step, withoutValues(error, step)) : error;
      });
      this.print(`${DONE[step.action]} ${titleOf(step)}.`);
      const warnings = this.reading.connection.takeWarnings().map(remarkOf);
      for (const { at, message } of [...warnings, ...problems]) {
        const line = `Warning: ${masked(message, step.local?.fields)}`;
        this.print(step.local ? step.local.file.problemAt(at, line) : line);
      }
    }
  }

  /** @returns problems that prevent the record from running */
  private async make(step: Step): Promise<readonly Remark[]> {
    const { record, remote, action } = step;
    const { connection } = this.reading;
    // A change of the document of an assistant names the version that it changes.
    const isOfDocument = record.kind === "assistant" && action === "update" && !changesSettings(step);
    if (remote && !isOfDocument) await this.checkUnchanged(remote);
    if (action === "delete") {
      const { id } = remote!; // a plan deletes only records that the server has
      await connection.graphql(`mutation ($id: ID!) { ${DELETIONS[record.kind]}(id: $id) { id } }`, { id });
      return [];
    }
    const fields = this.sent(step.fields, record.kind);
    if (remote) return this.update(step, remote, fields);
    const id = await create(connection, record.kind, { ...fields, key: record.key });
    this.ids.set(`${record.kind} ${record.key}`, id);
    const { nodes, edges } = fields;
    return record.kind === "workflow" ? updateWorkflow(this.reading, id, { nodes, edges }, this.idOf) : [];
  }

  private async update(step: Step, remote: RemoteRecord, fields: Fields): Promise<readonly Remark[]> {
    const { connection } = this.reading;
    const { id, kind } = remote;
    if (kind === "workflow") return updateWorkflow(this.reading, id, fields, this.idOf, step.graph);
    if (kind === "webhook") await updateWebhook(connection, id, fields);
    if (kind === "deployment") await updateDeployment(connection, id, fields);
    if (kind === "assistant") await updateAssistant(connection, remote, fields);
    return [];
  }

  /** @throws RequestError */
  private async checkUnchanged(record: RemoteRecord): Promise<void> {
    if (!(await isUnchanged(this.reading, this.remote, record)))
      throw new RequestError("The record has changed.", "VERSION_CONFLICT");
  }

  /** The fields with ids in place of names. */
  private sent({ project, assistant, workflow, number, ...fields }: Fields, kind: Kind): Fields {
    const { projects, numbers } = this.remote.names;
    const reference = (field: string, value: unknown, idOf: (name: string) => string | undefined): Fields =>
      value === undefined ? {} : { [field]: value === null ? null : idOf(textOf(sentValue(value))) };
    return {
      ...fields,
      ...reference("projectId", project, (name) => projects.get(name)?.[0]),
      ...(kind === "deployment" && {
        ...reference("assistantId", assistant, this.idOf),
        ...reference("workflowId", workflow, (key) => this.ids.get(`workflow ${key}`)),
        ...reference("telephonyConnectionId", number, (name) => numbers.get(name)),
      }),
    };
  }

  private readonly idOf = (assistant: string): string => this.ids.get(`assistant ${assistant}`)!; // the plan knows them
}

/** Whether a step changes what versions of an assistant do not contain. */
const changesSettings = ({ fields }: Step): boolean => "project" in fields || "missingVariables" in fields;

function create(connection: Connection, kind: Kind, fields: Fields): Promise<string> {
  const creators = {
    assistant: createAssistant,
    webhook: createWebhook,
    workflow: createWorkflow,
    deployment: createDeployment,
  };
  return creators[kind](connection, fields);
}

/** An error without the values of variables, which messages of the server may contain. */
function withoutValues({ message, code, details, at }: RequestError, { local }: Step): RequestError {
  const mask = (text: string) => masked(text, local?.fields);
  const problems = details.map((detail) => ({ ...detail, message: mask(detail.message) }));
  return new RequestError(mask(message), code, problems, at);
}

/** The refusal of a value, with its place in the file. */
function refusal({ local, record }: Step, error: RequestError): Error {
  const { message, details, at } = error;
  const about = `${KINDS[record.kind].noun} ${record.key}`;
  if (isOutdated(error)) {
    const reason = error.code === "VERSION_CONFLICT" ? "" : ` (${message})`;
    return new Error(
      `Somebody has changed the ${about} or what it names meanwhile${reason}. Run the command again.`,
    );
  }
  if (!local) return new FileProblems([`${about}: ${message}`]);
  if (details.length === 0) return new FileProblems([local.file.problemAt(at, message)]);
  return new FileProblems(
    details.map(({ path, message, at: part = at }) => {
      const place = [...part, ...placeOf(path)];
      return local.file.problemAt(place, `${place.join(".")} ${message}.`);
    }),
  );
}

/** Whether the server has changed since it was read: a record is gone, has another version, or the key is taken. */
const isOutdated = ({ code, details }: RequestError): boolean =>
  code === "VERSION_CONFLICT" ||
  code.endsWith("_NOT_FOUND") ||
  (code === "CONFLICT" && details.some(({ path }) => /(^|\.)key$/.test(path)));

/** Names of fields in files, by their names in GraphQL. */
const NAMES: Readonly<Record<string, string>> = {
  fileIds: "files",
  origins: "allowedOrigins",
  projectId: "project",
  assistantId: "assistant",
  workflowId: "workflow",
  telephonyConnectionId: "number",
  fromNodeId: "from",
  toNodeId: "to",
};

/** The place in a file of a value that was sent. */
const placeOf = (path: string): Path =>
  path
    .replace(/^(input|document|settings)\./, "")
    .split(".")
    .map((name) => (/^\d+$/.test(name) ? Number(name) : (NAMES[name] ?? name)));

/** A warning of the server, which begins with the path of a value if it is about one. */
function remarkOf(message: string): Remark {
  const [, path] = /^([\w.]+): /.exec(message) ?? [];
  return { at: path === undefined ? [] : placeOf(path), message };
}
