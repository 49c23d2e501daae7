import { createAssistant, updateAssistant, type AttachedFile } from "./assistants";
import { RequestError, type Connection } from "./connection";
import { createDeployment, updateDeployment } from "./deployments";
import { KINDS, textOf, type Fields, type Kind } from "./kinds";
import type { Step } from "./plan";
import { titleOf } from "./print-plan";
import { FileProblems } from "./problems";
import type { Reading, Remote } from "./remote";
import { createWebhook, updateWebhook } from "./webhooks";
import { createWorkflow, updateWorkflow } from "./workflows";

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

  /** @throws FileProblems about a value that the server refuses */
  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      try {
        await this.make(step);
      } catch (error) {
        throw error instanceof RequestError ? refusal(step, error) : error;
      }
      this.print(`${DONE[step.action]} ${titleOf(step)}.`);
    }
  }

  private async make(step: Step): Promise<void> {
    const { record, remote, action } = step;
    const { connection } = this.reading;
    if (action === "delete")
      return void (await connection.graphql(
        `mutation ($id: ID!) { ${DELETIONS[record.kind]}(id: $id) { id } }`,
        {
          id: remote!.id, // a plan deletes only records that the server has
        },
      ));
    const fields = this.sent(step.fields, record.kind);
    if (remote) return this.update(step, remote.id, fields);
    const id = await create(connection, record.kind, { ...fields, key: record.key });
    this.ids.set(`${record.kind} ${record.key}`, id);
    await this.complete(step, id, fields);
  }

  private async update(step: Step, id: string, fields: Fields): Promise<void> {
    const { connection } = this.reading;
    const { kind } = step.record;
    if (kind === "webhook") return updateWebhook(connection, id, fields);
    if (kind === "deployment") return updateDeployment(connection, id, fields);
    if (kind === "workflow") return updateWorkflow(this.reading, id, fields, this.idOf, step.graph);
    const attached = (step.remote?.fields.files ?? []) as readonly AttachedFile[];
    return updateAssistant(connection, id, fields, attached);
  }

  /** Fields that a new record gets after it was created. */
  private async complete(step: Step, id: string, fields: Fields): Promise<void> {
    const { name: _n, description: _d, variables: _v, projectId: _p, missingVariables: _m, ...rest } = fields;
    if (step.record.kind === "assistant" || step.record.kind === "workflow")
      await this.update(step, id, rest);
  }

  /** The fields with ids in place of names. */
  private sent({ project, assistant, workflow, number, ...fields }: Fields, kind: Kind): Fields {
    const { projects, numbers } = this.remote.names;
    const reference = (field: string, value: unknown, idOf: (name: string) => string | undefined): Fields =>
      value === undefined ? {} : { [field]: value === null ? null : idOf(textOf(value)) };
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

function create(connection: Connection, kind: Kind, fields: Fields): Promise<string> {
  const creators = {
    assistant: createAssistant,
    webhook: createWebhook,
    workflow: createWorkflow,
    deployment: createDeployment,
  };
  return creators[kind](connection, fields);
}

/** The refusal of a value, with its place in the file. */
function refusal({ local, record }: Step, { message, details, at }: RequestError): Error {
  const about = `${KINDS[record.kind].noun} ${record.key}`;
  if (!local) return new FileProblems([`${about}: ${message}`]);
  if (details.length === 0) return new FileProblems([local.file.problemAt(at, message)]);
  return new FileProblems(
    details.map(({ path, message }) => {
      const names = path.replace(/^(input|own)\./, "").replace(/^rag_/, "rag.");
      const places = names.replace(/^origins\b/, "allowedOrigins").split(".");
      const numbered = places.map((name) => (/^\d+$/.test(name) ? Number(name) : name));
      return local.file.problemAt([...at, ...numbered], `${[...at, ...places].join(".")} ${message}.`);
    }),
  );
}
