import { PinnedAssistants, type PinnedAssistant } from "../../assistants/versions/pinned-assistants";
import type { Visitor, WidgetVisitor } from "../../account/auth/caller";
import type { Channel } from "../../platform/catalog/load-catalog";
import { namesIn } from "../../assistants/configurations/variable-names";
import { Chats } from "../../chats/chats/chats";
import { Configurations, KIND_OF } from "../../assistants/configurations/configurations";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { fill, valuesOf } from "../../conversation/functions/variables";
import {
  DEPLOYMENT_OFF,
  DEPLOYMENT_TYPES,
  Deployments,
  type Deployment,
  type DeploymentType,
} from "../../conversation/workflows/deployments";
import { checkVariables } from "../../conversation/turns/unresolved-variables";
import { resolve, type FirstSpeaker, type ResolvedTarget } from "../../conversation/workflows/target";
import type { JsonObject } from "../../platform/json/json-object";
import { publicTheme } from "../../assistants/configurations/theme-values";

/** An assistant as a web page shows it. */
export interface Widget {
  /** Who speaks first in a chat without variables. */
  readonly first: FirstSpeaker;
  /** The target with which a new chat of a workflow starts. */
  readonly target?: WidgetVisitor["target"];
  readonly assistantId: string;
  readonly name: string;
  readonly mode: string;
  readonly theme: JsonObject;
  readonly textEnabled: boolean;
  readonly voiceEnabled: boolean;
  readonly engineVoice: boolean;
  readonly allowedOrigins: readonly string[];
}

/** Types of deployments on web pages. */
const WEB_PAGE_TYPES: readonly DeploymentType[] = [
  "TEXT_IFRAME",
  "TEXT_BUBBLE",
  "VOICE_BUBBLE",
  "VOICE_IFRAME",
];
/** The channel that each mode disables. */
const DISABLED_CHANNELS: Readonly<Record<string, Channel>> = { CHAT_ONLY: "VOICE", VOICE_ONLY: "TEXT" };

/** The assistants and deployments that web pages may show. */
export class Widgets {
  constructor(private readonly scope: Scope) {}

  /** Resolves the assistant that speaks on the page. */
  speaker(target: WidgetVisitor["target"], variables: JsonObject = {}): Promise<ResolvedTarget> {
    return resolve(this.scope, target, variables, { instead: "use the copy", check: checkOnPage });
  }

  /** @throws as `speaker` */
  async of(target: WidgetVisitor["target"]): Promise<Widget> {
    const { assistant, ...first } = await this.speaker(target);
    const widget = await this.widgetOf(assistant, await this.channelsOf(target));
    return first.flow ? { ...widget, first, target } : widget;
  }

  /** The widget of a visitor's session. */
  async ofVisitor(visitor: Visitor): Promise<Widget> {
    if (!("chatId" in visitor)) return this.of(visitor.target);
    const chat = await this.scope.of(Chats).byId(visitor.chatId);
    return this.widgetOf(await this.scope.of(PinnedAssistants).in(chat), ["VOICE"]);
  }

  /**
   * The greeting with variables filled in; null if the assistant has none, or if it refuses chats without values that the
   * page has not sent yet.
   * @param variables undefined if the page has sent none
   * @throws MISSING_VARIABLES if a chat with these variables is refused
   */
  async greeting(widget: Widget, variables: JsonObject | undefined): Promise<string | null> {
    const { target, textEnabled } = widget;
    const first: FirstSpeaker = target && variables ? await this.speaker(target, variables) : widget.first;
    const { speaker } = first;
    const channel = textEnabled ? "TEXT" : "VOICE";
    const mayRefuse = variables !== undefined;
    await checkVariables(this.scope, { ...first, channel, variables, greetingOnly: true, mayRefuse });
    const { initialMessage } = await this.scope.of(PinnedAssistants).configuration(KIND_OF[channel], speaker);
    const values = valuesOf(variables, speaker);
    const isWhole = namesIn(initialMessage).every((name) => values.isSet(name));
    if (!isWhole && speaker.missingVariables === "REFUSE") return null;
    return fill(initialMessage, values).trim() || null;
  }

  private async widgetOf(assistant: PinnedAssistant, channels: readonly Channel[]): Promise<Widget> {
    const configurations = this.scope.of(Configurations);
    const [{ theme, mode, allowedOrigins }, { chatMode }] = await Promise.all([
      configurations.of("theme", assistant),
      configurations.of("chat", assistant),
    ]);
    const isOffered = (channel: Channel) => channels.includes(channel) && DISABLED_CHANNELS[mode] !== channel;
    const voiceEnabled = isOffered("VOICE");
    return {
      first: { speaker: assistant },
      assistantId: assistant.id,
      name: assistant.name,
      mode,
      theme: publicTheme(theme),
      textEnabled: isOffered("TEXT") && chatMode,
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

function checkOnPage({ enabled, type }: Deployment): void {
  if (!enabled) throw new DomainError("CHANNEL_DISABLED", DEPLOYMENT_OFF);
  if (!WEB_PAGE_TYPES.includes(type))
    throw new DomainError(
      "CHANNEL_DISABLED",
      `Deployments of type ${type} are not available on web pages. Use one of type ${WEB_PAGE_TYPES.join(", ")}.`,
    );
}
