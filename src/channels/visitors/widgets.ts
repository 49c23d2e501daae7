import { Assistants, type Assistant } from "../../assistants/assistants/assistants";
import type { Visitor, WidgetVisitor } from "../../account/auth/caller";
import type { Channel } from "../../platform/catalog/load-catalog";
import { Chats } from "../../chats/chats/chats";
import { Configurations } from "../../assistants/configurations/configurations";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { fill } from "../../conversation/functions/variables";
import {
  DEPLOYMENT_TYPES,
  Deployments,
  type Deployment,
  type DeploymentType,
} from "../../conversation/workflows/deployments";
import { resolve, type ResolvedTarget } from "../../conversation/workflows/target";
import type { JsonObject } from "../../platform/json/json-object";
import { shownTheme } from "./theme";

/** What a page shows of an assistant. */
export interface Widget {
  readonly assistant: Assistant;
  readonly assistantId: string;
  readonly name: string;
  readonly mode: string;
  readonly theme: JsonObject;
  readonly textEnabled: boolean;
  readonly voiceEnabled: boolean;
  readonly engineVoice: boolean;
  readonly allowedOrigins: readonly string[];
}

/** Deployments that are met on web pages. */
const ON_PAGES: readonly DeploymentType[] = ["TEXT_IFRAME", "TEXT_BUBBLE", "VOICE_BUBBLE", "VOICE_IFRAME"];
/** The channel that each mode leaves out. */
const LEFT_OUT: Readonly<Record<string, Channel>> = { CHAT_ONLY: "VOICE", VOICE_ONLY: "TEXT" };

/** What web pages show of assistants. */
export class Widgets {
  constructor(private readonly scope: Scope) {}

  /**
   * Who speaks on the page.
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, DEPLOYMENT_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, CHANNEL_DISABLED
   */
  speaker(target: WidgetVisitor["target"], variables: JsonObject = {}): Promise<ResolvedTarget> {
    return resolve(this.scope, target, variables, { instead: "use the copy", check: mayBeMet });
  }

  /** @throws as `speaker` */
  async of(target: WidgetVisitor["target"]): Promise<Widget> {
    const { assistant } = await this.speaker(target);
    return this.shown(assistant, await this.channelsOf(target));
  }

  /** Of the assistant that a visitor talks with. */
  async ofVisitor(visitor: Visitor): Promise<Widget> {
    if (!("chatId" in visitor)) return this.of(visitor.target);
    const { assistantId } = await this.scope.of(Chats).byId(visitor.chatId);
    return this.shown(await this.scope.of(Assistants).evenDeleted(assistantId), ["VOICE"]);
  }

  /** The greeting with variables filled in; null where the assistant says none. */
  async greeting({ assistant, textEnabled }: Widget, variables: JsonObject): Promise<string | null> {
    const kind = textEnabled ? "chat" : "voice";
    const { initialMessage } = await this.scope.of(Configurations).of(kind, assistant);
    return fill(initialMessage, [variables, assistant.variables]).trim() || null;
  }

  private async shown(assistant: Assistant, channels: readonly Channel[]): Promise<Widget> {
    const configurations = this.scope.of(Configurations);
    const [{ theme, mode, allowedOrigins }, { chatMode }] = await Promise.all([
      configurations.of("theme", assistant),
      configurations.of("chat", assistant),
    ]);
    const offered = (channel: Channel) => channels.includes(channel) && LEFT_OUT[mode] !== channel;
    const voiceEnabled = offered("VOICE");
    return {
      assistant,
      assistantId: assistant.id,
      name: assistant.name,
      mode,
      theme: shownTheme(theme),
      textEnabled: offered("TEXT") && chatMode,
      voiceEnabled,
      engineVoice: voiceEnabled && this.scope.ports.voice.engine.web !== undefined,
      allowedOrigins,
    };
  }

  private async channelsOf(target: WidgetVisitor["target"]): Promise<readonly Channel[]> {
    if ("assistantId" in target) return ["TEXT", "VOICE"];
    return DEPLOYMENT_TYPES[(await this.scope.of(Deployments).byId(target.deploymentId)).type];
  }
}

function mayBeMet({ enabled, type }: Deployment): void {
  if (!enabled) throw new DomainError("CHANNEL_DISABLED", "The deployment is switched off.");
  if (!ON_PAGES.includes(type))
    throw new DomainError(
      "CHANNEL_DISABLED",
      `A deployment of the type ${type} is not met on web pages; one of ${ON_PAGES.join(", ")} is.`,
    );
}
