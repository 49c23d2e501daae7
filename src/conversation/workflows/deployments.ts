import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import { newId } from "../../platform/database/ids";
import { encoded } from "../../platform/database/encoded";
import { NEWEST_FIRST, OLDEST_FIRST } from "../../platform/database/order";
import type { Scope } from "../../platform/database/scope";
import { invalid, missing } from "../../platform/errors";
import { Projects } from "../../account/projects/projects";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { checkAssistant } from "./workflow-nodes";
import { Workflows } from "./workflows";

/** Where a deployment is met, with the channels of the conversations that it holds. */
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

/** Types by which somebody is called. */
export const CALLING: readonly DeploymentType[] = ["PHONE_OUTBOUND", "API"];

export interface Deployment {
  readonly id: string;
  readonly type: DeploymentType;
  readonly enabled: boolean;
  readonly projectId: string | null;
  readonly assistantId: string | null;
  readonly workflowId: string | null;
  readonly telephonyConnectionId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface DeploymentInput {
  readonly type: DeploymentType;
  readonly enabled?: boolean;
  readonly projectId?: string | null;
  readonly assistantId?: string | null;
  readonly workflowId?: string | null;
  readonly telephonyConnectionId?: string | null;
}

/** Where an organization's assistants and workflows are met. */
export class Deployments {
  constructor(private readonly scope: Scope) {}

  /** The newest first; with a project those of that project. @throws PROJECT_NOT_FOUND */
  async list(projectId?: string | null): Promise<Deployment[]> {
    const rows = this.scope.table("deployments").orderBy(NEWEST_FIRST);
    if (projectId == null) return await rows;
    await this.scope.of(Projects).byId(projectId);
    return await rows.where({ projectId });
  }

  /** @throws DEPLOYMENT_NOT_FOUND */
  async byId(id: string): Promise<Deployment> {
    return (await this.find(id)) ?? missing("Deployment");
  }

  /** Many of one request by one statement; undefined for one that does not exist, or no more. */
  find(id: string): Promise<Deployment | undefined> {
    const loader = this.scope.loader<Deployment | undefined>("deployments", async (ids) => {
      const rows = await this.scope.table("deployments").whereIn("id", ids);
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((one) => found.get(one));
    });
    return loader.load(id);
  }

  /** Those of a workflow, of many workflows by one statement; the newest first. */
  ofWorkflow(workflowId: string): Promise<Deployment[]> {
    const loader = this.scope.loader<Deployment[]>("deployments.workflow", async (ids) => {
      const rows = this.scope.table("deployments").whereIn("workflowId", ids).orderBy(NEWEST_FIRST);
      const found = await rows;
      return ids.map((one) => found.filter((row) => row.workflowId === one));
    });
    return loader.load(workflowId);
  }

  /** The enabled deployments that take what comes in on a connected number, the oldest first. */
  async on(telephonyConnectionId: string, type: "PHONE_INBOUND" | "SMS"): Promise<Deployment[]> {
    const rows = this.scope.table("deployments").where({ telephonyConnectionId, type, enabled: true });
    return await rows.orderBy(OLDEST_FIRST);
  }

  /** @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND, TELEPHONY_CONNECTION_NOT_FOUND; BAD_USER_INPUT unless it has one of the two */
  async create(input: DeploymentInput): Promise<Deployment> {
    const { assistantId = null, workflowId = null } = input;
    checkOne(assistantId, workflowId);
    return this.scope.transaction(async (scope) => {
      await scope.of(Deployments).check(input);
      const [row] = await scope.insert("deployments", { ...input, id: newId() });
      return row!;
    });
  }

  /**
   * Changes it; an assistant takes the place of a workflow, and the other way round.
   * @throws DEPLOYMENT_NOT_FOUND and as `create`
   */
  async update(id: string, input: Partial<DeploymentInput>): Promise<Deployment> {
    const { assistantId, workflowId } = input;
    if (assistantId != null && workflowId != null) checkOne(assistantId, workflowId);
    return this.scope.transaction(async (scope) => {
      const deployment = () => scope.table("deployments").where({ id });
      const [old] = await deployment().forUpdate();
      if (!old) return missing("Deployment");
      const held = {
        assistantId: workflowId != null ? null : assistantId === undefined ? old.assistantId : assistantId,
        workflowId: assistantId != null ? null : workflowId === undefined ? old.workflowId : workflowId,
      };
      checkOne(held.assistantId, held.workflowId);
      await scope.of(Deployments).check(input);
      const changes = { ...encoded({ ...input }), ...held, updatedAt: currentDate() };
      const [row] = await deployment().update(changes).returning("*");
      return row!;
    });
  }

  /** @throws DEPLOYMENT_NOT_FOUND */
  async remove(id: string): Promise<{ id: string }> {
    if ((await this.scope.table("deployments").where({ id }).delete()) === 0) missing("Deployment");
    return { id };
  }

  private async check(input: Partial<DeploymentInput>): Promise<void> {
    const { assistantId, workflowId, projectId, telephonyConnectionId: connectionId } = input;
    if (assistantId != null) await checkAssistant(this.scope, assistantId);
    if (workflowId != null) await this.scope.of(Workflows).hold(workflowId);
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
        message: "give one of assistantId and workflowId",
      })),
    );
}
