import { computed, effect, signal } from "@preact/signals";
import type { Appearance, PageData, ToFrame } from "../protocol";
import { ApiError, codeOf, isTransient } from "./api";
import { Conversation } from "./conversation";
import { Host } from "./host";
import { lookOf } from "./look";
import { READ_WIDGET, type Message, type Widget } from "./operations.generated";
import { Outbox } from "./outbox";
import { Session, type Target } from "./session";
import { Talk } from "./talk";
import { applyTheme, readTheme } from "./theme";
import { watchHold } from "./watch-hold";
import { speech } from "./words";

export type View = "chat" | "history" | "voice";
export type Trouble = "unavailable" | "failed" | "busy";

const EMPTY: PageData = { variables: {}, metadata: {} };
const RETRY_PAUSE_MS = { min: 2_000, max: 60_000 };
/** Age from which the assistant's data is reloaded when the tab becomes visible, in ms. */
const MAX_AGE_MS = 15_000;

const night = matchMedia("(prefers-color-scheme: dark)");

/** The application in the frame: one assistant and one visitor. */
export class Application {
  readonly widget = signal<Widget | undefined>(undefined);
  readonly trouble = signal<Trouble | undefined>(undefined);
  readonly view = signal<View>("chat");
  readonly hasHistory = signal(false);
  readonly isOpen = signal(true);
  readonly appearance = signal<Appearance | "alone">("alone");
  readonly theme = computed(() => readTheme(this.widget.value?.theme ?? {}, this.widget.value?.name ?? ""));
  readonly text = computed(() => this.widget.value?.textEnabled && this.widget.value.mode !== "VOICE_ONLY");
  readonly voice = computed(() => this.widget.value?.voiceEnabled && this.widget.value.mode !== "CHAT_ONLY");
  conversation!: Conversation;
  talk!: Talk;
  session!: Session;
  private readonly dark = signal(night.matches);
  private readonly host: Host;
  pageData = EMPTY;
  /** Whether the installation is held, so that nobody is answered. */
  readonly held = signal(false);
  private hasStarted = false;
  private unread = 0;
  private tries = 0;
  private readAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly target: Target,
    origin: string,
  ) {
    this.host = new Host(origin, (message) => this.receive(message));
    night.addEventListener("change", () => (this.dark.value = night.matches));
    effect(() => applyTheme(this.theme.value, this.dark.value));
    document.addEventListener("visibilitychange", () => this.refresh());
  }

  start(): void {
    if (this.host.isTopLevel) this.begin(this.target, "alone");
    else this.host.send({ type: "ready" });
  }

  /** Ends the conversation, which stays in the history, and starts a new one. */
  startNew(): void {
    this.hasHistory.value = true;
    void this.conversation.end();
  }

  /** Asks the page to close the dialog. */
  close(): void {
    this.host.send({ type: "close" });
  }

  /** Reports an error to the page's console and its handlers; visitors see a short message. */
  report(error: unknown, where: string): void {
    const { assistantId, deploymentId } = this.target;
    const of = deploymentId ? `deployment ${deploymentId}` : `assistant ${assistantId}`;
    const what = error instanceof ApiError ? `${error.code}: ${error.message} (${of})` : String(error);
    if (this.host.isTopLevel) console.error(`[CompanionWidget] ${where}: ${what}`);
    else this.host.send({ type: "error", where, what });
  }

  async load(): Promise<void> {
    clearTimeout(this.timer);
    try {
      await this.read();
      if (!this.text.value && !this.voice.value)
        throw new ApiError("CHANNEL_DISABLED", "Text and voice are both disabled.");
      if (!this.text.value) this.view.value = "voice";
      else await this.conversation.resume();
      this.tries = 0;
      this.trouble.value = undefined;
      this.started();
    } catch (error) {
      this.report(error, "The assistant could not be shown");
      const transient = isTransient(error);
      const code = codeOf(error);
      this.trouble.value =
        code === "RATE_LIMITED" ? "busy" : transient || code === "INTERNAL" ? "failed" : "unavailable";
      if (transient)
        this.timer = setTimeout(
          () => void this.load(),
          Math.min(RETRY_PAUSE_MS.min * 2 ** this.tries++, RETRY_PAUSE_MS.max),
        );
    }
    this.host.send({ type: "look", look: lookOf(this.theme.value) });
  }

  /** Tells the page once that the widget is ready, even if that took several tries. */
  private started(): void {
    if (!this.hasStarted) this.host.send({ type: "started" });
    this.hasStarted = true;
  }

  private begin(
    identity: Pick<Target, "uniqueId" | "uniqueIdSignature">,
    appearance: Appearance | "alone",
  ): void {
    const { uniqueId, uniqueIdSignature } = identity;
    const target = { ...this.target, uniqueId, uniqueIdSignature };
    // A bubble and an iframe on the same page have separate chats.
    const storageKey = `parley:${target.deploymentId ?? target.assistantId}:${appearance}`;
    this.appearance.value = appearance;
    this.session = new Session(target, storageKey);
    const data = () => this.pageData;
    const onError = (error: unknown, where: string) => this.report(error, where);
    const onMessage = (message: Message) => this.stored(message);
    this.conversation = new Conversation(this.session, {
      channel: "TEXT",
      storageKey,
      // Another person in this tab must not send what this one has written.
      outbox: new Outbox(`${storageKey}:unsent${uniqueId === undefined ? "" : `:${uniqueId}`}`),
      data,
      onMessage,
      onError,
    });
    this.talk = new Talk(
      new Conversation(this.session, {
        channel: "VOICE",
        data,
        onMessage: (message) => {
          this.talk.stored(message);
          this.stored(message);
        },
        onError,
      }),
      speech.value.locale,
      (error) => this.report(error, "The call"),
    );
    void this.load().then(() => watchHold(this.held, this.session, this.conversation));
  }

  private async read(): Promise<void> {
    this.readAt = Date.now();
    const { variables } = this.pageData;
    // Without variables, the greeting of an assistant that insists on them is empty instead of refused.
    const sent = Object.keys(variables).length > 0 ? { variables } : {};
    const widget = await this.session.run(READ_WIDGET, sent).catch((error: unknown) => {
      if (codeOf(error) !== "MISSING_VARIABLES") throw error;
      this.report(error, "The greeting");
      return this.session.run(READ_WIDGET, {}); // a conversation in progress continues
    });
    if (variables !== this.pageData.variables) return this.read(); // the variables changed in the meantime
    this.widget.value = widget;
    this.hasHistory.value ||= this.session.historyAvailable;
  }

  /** Reloads the assistant's appearance, which may have changed. */
  private refresh(): void {
    if (document.hidden || !this.widget.value || Date.now() - this.readAt < MAX_AGE_MS) return;
    void this.renew();
  }

  private async renew(): Promise<void> {
    await this.read().catch((error: unknown) => this.report(error, "The assistant"));
    this.host.send({ type: "look", look: lookOf(this.theme.value) });
  }

  private receive(message: ToFrame): void {
    if (message.type === "init") {
      if (this.session) return;
      this.pageData = message.data;
      this.isOpen.value = message.open;
      this.begin(message, message.appearance);
    } else if (message.type === "initialize") {
      this.pageData = message.data;
      if (this.widget.value) void this.renew(); // the greeting may use them
      this.conversation?.update();
      this.talk?.conversation.update();
    } else if (message.type === "open") this.opened();
    else this.isOpen.value = false;
  }

  private opened(): void {
    this.isOpen.value = true;
    this.unread = 0;
    this.host.send({ type: "unread", count: 0 });
    this.refresh();
  }

  private stored({ role, content }: Message): void {
    this.host.send({ type: "message", role, content });
    if (role !== "ASSISTANT" || this.isOpen.value) return;
    this.host.send({ type: "unread", count: ++this.unread });
  }
}
