import {
  connectionByAge,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import { newId } from "../../platform/database/values/ids";
import { encoded } from "../../platform/database/values/encoded";
import { hasValues } from "../../platform/database/values/has-values";
import { timesOfNew, type KeptTimes } from "../../platform/database/kept-times";
import { withFreeKey } from "../../platform/database/record-key";
import { NEWEST_FIRST, OLDEST_FIRST } from "../../platform/database/lists/order";
import type { New } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { invalid, missing } from "../../platform/errors";
import { Projects } from "../../account/projects/projects";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { Assistants } from "../../assistants/assistants/assistants";
import { PinnedAssistants } from "../../assistants/versions/pinned-assistants";
import { checkAssistant } from "./workflow-nodes";
import { Workflows } from "./workflows";

/** Types of deployments, with the channels of their conversations. */
export const DEPLOYMENT_TYPES = {
  TEXT_IFRAME: ["TEXT"],
  TEXT_BUBBLE: ["TEXT"],
  VOICE_BUBBLE: ["VOICE"],
  VOICE_IFRAME: ["VOICE"],
  SMS: ["SMS"],
  PHONE_OUTBOUND: ["VOICE"],
  PHONE_INBOUND: ["VOICE"],
  API: ["TEXT", "SMS", "VOICE"],
} as const satisfies Record<string, readonly Channel[]>;
export type DeploymentType = keyof typeof DEPLOYMENT_TYPES;

/** Types that can place calls. */
export const CALLING_TYPES: readonly DeploymentType[] = ["PHONE_OUTBOUND", "API"];

export const DEPLOYMENT_OFF = "The deployment is switched off. Enable it with updateDeployment.";

export interface Deployment {
  readonly id: string;
  readonly type: DeploymentType;
  readonly enabled: boolean;
  readonly key: string | null;
  readonly projectId: string | null;
  readonly assistantId: string | null;
  /** Version of the assistant that its conversations run; null for the current one. */
  readonly assistantVersion: number | null;
  readonly workflowId: string | null;
  readonly telephonyConnectionId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface DeploymentInput {
  readonly type: DeploymentType;
  readonly enabled?: boolean;
  readonly key?: string | null;
  readonly projectId?: string | null;
  readonly assistantId?: string | null;
  readonly assistantVersion?: number | null;
  readonly workflowId?: string | null;
  readonly telephonyConnectionId?: string | null;
}

/** A deployment of another service. */
export interface ImportedDeployment extends DeploymentInput, KeptTimes {
  readonly id: string;
}

/** Deployments: the places where people reach an organization's assistants and workflows. */
export class Deployments {
  constructor(private readonly scope: Scope) {}

  /** Newest first; with a project only its deployments. @throws PROJECT_NOT_FOUND */
  async list(projectId?: string | null): Promise<Deployment[]> {
    if (projectId != null) await this.scope.of(Projects).byId(projectId);
    return await this.rowsOf(projectId).orderBy(NEWEST_FIRST);
  }

  /** The same by creation, as a connection. @throws PROJECT_NOT_FOUND */
  async connection(query: ConnectionQuery, projectId?: string | null): Promise<Connection<Deployment>> {
    if (projectId != null) await this.scope.of(Projects).byId(projectId);
    return connectionByAge({ rows: this.rowsOf(projectId), map: (row) => row }, query);
  }

  private rowsOf(projectId: string | null | undefined) {
    const rows = this.scope.table("deployments");
    return projectId == null ? rows : rows.where({ projectId });
  }

  /** @throws DEPLOYMENT_NOT_FOUND */
  async byId(id: string): Promise<Deployment> {
    return (await this.find(id)) ?? missing("Deployment", id);
  }

  /** Loads a deployment; calls in the same tick share one statement. @returns undefined if it does not exist */
  find(id: string): Promise<Deployment | undefined> {
    const loader = this.scope.loader<Deployment | undefined>("deployments", async (ids) => {
      const rows = await this.scope.table("deployments").whereIn("id", ids);
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((one) => found.get(one));
    });
    return loader.load(id);
  }

  /** Deployments of a workflow, newest first; calls in the same tick share one statement. */
  ofWorkflow(workflowId: string): Promise<Deployment[]> {
    const loader = this.scope.loader<Deployment[]>("deployments.workflow", async (ids) => {
      const rows = this.scope.table("deployments").whereIn("workflowId", ids).orderBy(NEWEST_FIRST);
      const found = await rows;
      return ids.map((one) => found.filter((row) => row.workflowId === one));
    });
    return loader.load(workflowId);
  }

  /** The enabled deployments that answer a connected number, oldest first. */
  async ofNumber(telephonyConnectionId: string, type: "PHONE_INBOUND" | "SMS"): Promise<Deployment[]> {
    const rows = this.scope.table("deployments").where({ telephonyConnectionId, type, enabled: true });
    return await rows.orderBy(OLDEST_FIRST);
  }

  /**
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND,
   * TELEPHONY_CONNECTION_NOT_FOUND, CONFLICT; BAD_USER_INPUT unless exactly one of assistant and workflow is given
   */
  create(input: DeploymentInput): Promise<Deployment> {
    return this.add({ ...input, id: newId() });
  }

  /**
   * Creates a deployment with this id, or updates the one with this id to match.
   * @throws as `create`
   */
  async import({ id, createdAt, updatedAt, ...input }: ImportedDeployment): Promise<Deployment> {
    const [stored] = await this.scope.table("deployments").where({ id }).forUpdate();
    const values = { ...input, ...(updatedAt && { updatedAt }) };
    if (stored) return hasValues(stored, values) ? stored : this.update(id, values);
    return this.add({ ...input, id, ...timesOfNew({ createdAt, updatedAt }) });
  }

  private async add(row: New<"deployments">): Promise<Deployment> {
    const { assistantId = null, workflowId = null, key } = row;
    checkOne(assistantId, workflowId);
    return this.scope.transaction(async (scope) => {
      await scope.of(Deployments).check(row);
      await checkVersion(scope, assistantId, row.assistantVersion);
      const insert = async () => await scope.insert("deployments", row);
      const [stored] = await withFreeKey(scope, "deployments", { key }, insert);
      return stored!;
    });
  }

  /**
   * Changes a deployment. A new assistant replaces the workflow and the version, and a workflow replaces the assistant.
   * @throws DEPLOYMENT_NOT_FOUND and as `create`
   */
  async update(id: string, input: Partial<DeploymentInput & { updatedAt: Date }>): Promise<Deployment> {
    const { assistantId, workflowId } = input;
    if (assistantId != null && workflowId != null) checkOne(assistantId, workflowId);
    return this.scope.transaction(async (scope) => {
      const deployment = () => scope.table("deployments").where({ id });
      const [old] = await deployment().forUpdate();
      if (!old) return missing("Deployment", id);
      const target = {
        assistantId: workflowId != null ? null : assistantId === undefined ? old.assistantId : assistantId,
        workflowId: assistantId != null ? null : workflowId === undefined ? old.workflowId : workflowId,
      };
      checkOne(target.assistantId, target.workflowId);
      await scope.of(Deployments).check(input);
      await checkVersion(scope, target.assistantId, input.assistantVersion);
      // A version belongs to the assistant that the deployment had.
      const kept = target.assistantId === old.assistantId ? old.assistantVersion : null;
      const { assistantVersion = kept } = input;
      const changes = { updatedAt: currentDate(), ...encoded({ ...input }), ...target, assistantVersion };
      const update = async () => await deployment().update(changes).returning("*");
      const [row] = await withFreeKey(scope, "deployments", { id, key: input.key }, update);
      return row!;
    });
  }

  /** @throws DEPLOYMENT_NOT_FOUND */
  async remove(id: string): Promise<{ id: string }> {
    if ((await this.scope.table("deployments").where({ id }).delete()) === 0) missing("Deployment", id);
    return { id };
  }

  private async check(input: Partial<DeploymentInput | New<"deployments">>): Promise<void> {
    const { assistantId, workflowId, projectId, telephonyConnectionId: connectionId } = input;
    if (assistantId != null) await checkAssistant(this.scope, assistantId);
    if (workflowId != null) await this.scope.of(Workflows).lockForChat(workflowId);
    if (projectId != null) await this.scope.of(Projects).byId(projectId);
    if (connectionId != null) await this.scope.of(TelephonyConnections).byId(connectionId);
  }
}

/** @throws BAD_USER_INPUT */
function checkOne(assistantId: string | null, workflowId: string | null): void {
  if ((assistantId === null) === (workflowId === null))
    throw invalid(
      ["assistantId", "workflowId"].map((path) => ({
        path,
        message: "must be set if the other of assistantId and workflowId is not, but not together with it",
      })),
    );
}

/** @throws BAD_USER_INPUT */
async function checkVersion(
  scope: Scope,
  assistantId: string | null,
  number: number | null | undefined,
): Promise<void> {
  if (number == null) return;
  if (assistantId === null)
    throw invalid([{ path: "assistantVersion", message: "must be sent for a deployment of an assistant" }]);
  await scope.of(Assistants).lockForChat(assistantId); // the version is not removed before the deployment names it
  await scope.of(PinnedAssistants).begin(assistantId, { assistantVersion: number });
}
