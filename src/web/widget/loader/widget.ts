import { forTab } from "../app/storage";
import type { PageData, ToPage } from "../protocol";
import { Bubble } from "./bubble";
import { fill, whenThere } from "./container";
import { Frame } from "./frame";
import { complain } from "./report";
import type { Settings } from "./settings";

export const EVENTS = ["ready", "open", "close", "message", "error"] as const;
export type EventName = (typeof EVENTS)[number];

/** Whether the bubble is open, in the storage of the page's tab. */
const OPEN = "companion-widget-open";

/** One assistant on the page. */
export class Widget {
  private readonly frame: Frame;
  private readonly bubble: Bubble | undefined;
  private readonly stopLooking: () => void = () => undefined;
  /** An opening that waits until the frame has something to show. */
  private waiting: "asked" | "restored" | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly data: () => PageData,
    private readonly emit: (event: EventName, detail: object) => void,
  ) {
    this.frame = new Frame(settings, (message) => this.receive(message));
    const { element } = this.frame;
    if (settings.appearance === "bubble" && forTab.read(OPEN) === true) this.waiting = "restored";
    if (settings.appearance === "bubble") {
      this.bubble = new Bubble(element, settings.position, this.toggle, this.closed);
      this.frame.expectReady();
    } else this.stopLooking = whenThere(settings.containerId, this.putInto);
  }

  /** Key of the widget's place: a page can have one widget per place. */
  static placeOf({ appearance, containerId }: Settings): string {
    return appearance === "bubble" ? "a bubble" : `an assistant in the element "${containerId}"`;
  }

  get place(): string {
    return Widget.placeOf(this.settings);
  }

  initialize(): void {
    this.frame.send({ type: "initialize", data: this.data() });
  }

  open(): void {
    if (!this.bubble) return;
    if (this.bubble.isOpen) return this.frame.element.focus();
    this.waiting ??= "asked";
    if (this.bubble.isShown) this.openNow();
  }

  close(): void {
    this.waiting = undefined;
    this.bubble?.close();
  }

  remove(): void {
    if (this.bubble) forTab.forget(OPEN);
    this.stopLooking();
    this.frame.remove();
    this.bubble?.remove();
  }

  private readonly putInto = (container: HTMLElement) => {
    fill(container, this.frame.element);
    this.frame.expectReady();
  };

  private readonly toggle = () => (this.bubble?.isOpen ? this.close() : this.open());

  private openNow(): void {
    this.bubble!.open(); // only a bubble is opened
    // A reload must not take the focus from what the visitor does on the page.
    if (this.waiting === "asked") this.frame.element.focus();
    this.waiting = undefined;
    forTab.write(OPEN, true);
    this.frame.send({ type: "open" });
    this.emit("open", {});
  }

  private readonly closed = () => {
    forTab.forget(OPEN);
    this.frame.send({ type: "close" });
    this.emit("close", {});
  };

  private receive(message: ToPage): void {
    if (message.type === "ready") this.begin();
    else if (message.type === "started") this.emit("ready", {});
    else if (message.type === "look") {
      this.frame.element.title = message.look.title;
      this.bubble?.show(message.look);
      if (this.waiting) this.openNow();
    } else if (message.type === "close") this.close();
    else if (message.type === "unread") this.bubble?.showUnread(message.count);
    else if (message.type === "message")
      this.emit("message", { role: message.role, content: message.content });
    else if (message.type === "error") {
      complain(`${message.where}: ${message.what}`);
      this.emit("error", { where: message.where, message: message.what });
    }
  }

  /** The page is notified first, so that its call of initializeAssistant becomes part of `init`. */
  private begin(): void {
    document.dispatchEvent(new CustomEvent("companion-iframe-loaded", { bubbles: true }));
    this.frame.init(this.bubble?.isOpen ?? true, this.data());
  }
}
