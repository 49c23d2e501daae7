import type { Channel } from "../../platform/catalog/load-catalog";
import {
  KIND_OF,
  type ChannelConfiguration,
  type ChatConfiguration,
  type SmsConfiguration,
} from "../../assistants/configurations/configurations";
import { PinnedAssistants, type Choice } from "../../assistants/versions/pinned-assistants";
import { EndUsers } from "../../chats/chats/end-users";
import { noteLogs } from "../../chats/logs/log-changes";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { Events } from "../../events/events/events";
import { Quotas } from "../../account/organization/quotas";
import { DEPLOYMENT_OFF, DEPLOYMENT_TYPES, type Deployment } from "../workflows/deployments";
import { targetColumns, storeDraft } from "../workflows/pin-chat";
import { beginChat } from "../workflows/speaker";
import { resolve, targetOf, type ResolvedTarget } from "../workflows/target";
import { Workflows } from "../workflows/workflows";
import { listAhead } from "../functions/server-tools";
import { checkVariables } from "./unresolved-variables";
import { Chats, firstStatus, type Chat, type VisitorColumns } from "../../chats/chats/chats";

export interface StartChatInput extends Partial<VisitorColumns>, Choice {
  readonly assistantId?: string | null;
  readonly workflowId?: string | null;
  readonly deploymentId?: string | null;
  readonly channel?: Channel | null;
  readonly variables?: Record<string, unknown> | null;
  readonly metadata?: Record<string, unknown> | null;
  readonly userId?: string | null;
  readonly uniqueId?: string | null;
  /** Not needed for visitors: their identity was verified when the session started. */
  readonly uniqueIdSignature?: string | null;
  /** Of a person who texts, in E.164 format. */
  readonly phoneNumber?: string;
  /** Whether missing variables may refuse the chat; default true. */
  readonly mayRefuse?: boolean;
  /** Whether the assistant says its greeting; default true. */
  readonly greets?: boolean;
}

const checkFor = (channel: Channel) => (deployment: Deployment) => checkDeployment(deployment, channel);

/** Starts chats. */
export class ChatStart {
  constructor(private readonly scope: Scope) {}

  /**
   * @throws ASSISTANT_NOT_FOUND, WORKFLOW_NOT_FOUND, DEPLOYMENT_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, TEMPLATE_READ_ONLY,
   * CHANNEL_DISABLED, QUOTA_EXCEEDED, DRAFT_NOT_FOUND, MISSING_VARIABLES; BAD_USER_INPUT unless exactly one target is given
   * and its version exists; FORBIDDEN for an unsigned `uniqueId` if the organization requires signatures
   */
  async start(input: StartChatInput): Promise<Chat> {
    const { assistantId, workflowId, deploymentId, userId, uniqueId, variables, metadata } = input;
    const channel = input.channel ?? "TEXT";
    const purpose = { instead: "chat with the copy", check: checkFor(channel) };
    const target = targetOf({ assistantId, workflowId, deploymentId }, input);
    const resolved = await resolve(this.scope, target, variables ?? {}, purpose);
    const { assistant, flow } = resolved;
    listAhead(this.scope, assistant);
    return this.scope.transaction(async (scope) => {
      await this.checkStart(scope, resolved, { ...input, channel });
      if (uniqueId != null) await this.registerEndUser(scope, assistant.id, { ...input, uniqueId });
      const id = newId();
      const [stored] = await scope.insert("chats", {
        id,
        ...targetColumns(resolved),
        channel,
        status: "in-progress",
        ...firstStatus(),
        label: userId ?? undefined,
        userId: userId ?? undefined,
        uniqueId: uniqueId ?? undefined,
        visitorId: input.visitorId,
        identityProven: input.identityProven,
        phoneNumber: input.phoneNumber,
        variables: variables ?? {},
        metadata: metadata ?? {},
      });
      const chat = stored!;
      await storeDraft(scope, id, resolved);
      await noteLogs(scope, [id], 1);
      await scope.of(Events).sessionStarted(chat);
      await scope.of(Events).statusChanged(chat);
      await beginChat(scope, chat, flow, input.greets);
      return scope.of(Chats).byId(id);
    });
  }

  private async registerEndUser(
    scope: Scope,
    assistantId: string,
    { uniqueId, uniqueIdSignature, visitorId }: StartChatInput & { uniqueId: string },
  ): Promise<void> {
    const endUsers = scope.of(EndUsers);
    if (visitorId == null) await endUsers.checkIdentity(uniqueId, uniqueIdSignature);
    await endUsers.register(assistantId, uniqueId);
  }

  private async checkStart(
    scope: Scope,
    target: ResolvedTarget,
    { channel, variables, visitorId, mayRefuse }: StartChatInput & { channel: Channel },
  ): Promise<void> {
    const { assistant, workflowId } = target;
    await scope.of(PinnedAssistants).lockForChat(assistant);
    if (workflowId !== undefined) await scope.of(Workflows).lockForChat(workflowId);
    const configuration: Partial<ChatConfiguration & SmsConfiguration> & ChannelConfiguration = await scope
      .of(PinnedAssistants)
      .configuration(KIND_OF[channel], assistant);
    const off = (["chatMode", "smsMode"] as const).find((field) => configuration[field] === false);
    if (off !== undefined)
      throw new DomainError(
        "CHANNEL_DISABLED",
        `The assistant's ${channel} channel is switched off. Set ${off} to true.`,
      );
    await scope.of(Quotas).checkRoomFor("liveChats");
    const greetingOnly = visitorId != null;
    await checkVariables(scope, { ...target, channel, variables, greetingOnly, mayRefuse });
  }
}

function checkDeployment({ enabled, type }: Deployment, channel: Channel): void {
  if (!enabled) throw new DomainError("CHANNEL_DISABLED", DEPLOYMENT_OFF);
  const channels: readonly Channel[] = DEPLOYMENT_TYPES[type];
  if (!channels.includes(channel))
    throw new DomainError(
      "CHANNEL_DISABLED",
      `Deployments of type ${type} do not support the channel ${channel}, only ${channels.join(", ")}.`,
    );
}
