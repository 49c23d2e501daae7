import { sealed, unsealed, type PageData, type ToFrame, type ToPage } from "../protocol";
import { guarded } from "./report";
import type { Settings } from "./settings";

/** Time after which a frame that has not reported ready causes an error. */
const READY_TIMEOUT_MS = 20_000;

/** The iframe, and the messages exchanged with its window, on its origin only. */
export class Frame {
  readonly element: HTMLIFrameElement;
  private readonly origin: string;
  private readyTimer: ReturnType<typeof setTimeout> | undefined;
  private ready = false;

  constructor(
    private readonly settings: Settings,
    private readonly onMessage: (message: ToPage) => void,
  ) {
    const { frameUrl } = settings;
    this.origin = frameUrl.origin;
    this.element = document.createElement("iframe");
    this.element.title = "Chat";
    this.element.allow = "microphone; autoplay; clipboard-write";
    this.element.src = frameUrl.href;
    addEventListener("message", this.listen);
  }

  /** Expects the frame to report ready. Called when it is attached to the page, because only then it loads. */
  expectReady(): void {
    this.readyTimer = setTimeout(this.reportTimeout, READY_TIMEOUT_MS);
  }

  private readonly reportTimeout = () =>
    this.onMessage({
      type: "error",
      where: "The frame",
      what: `No response from ${this.origin}: is the service up, is ${window.origin} one of the allowed origins, and does this page's Content-Security-Policy allow it in frame-src?`,
    });

  private readonly listen = guarded("A message of the frame", (event: MessageEvent) => {
    if (event.source !== this.element.contentWindow || event.origin !== this.origin) return;
    const message = unsealed<ToPage>(event.data);
    if (!message) return;
    if (message.type === "ready") {
      this.ready = true;
      clearTimeout(this.readyTimer);
    }
    this.onMessage(message);
  });

  init(open: boolean, data: PageData): void {
    const { appearance, uniqueId, uniqueIdSignature } = this.settings;
    this.send({ type: "init", appearance, open, uniqueId, uniqueIdSignature, data });
  }

  /** Sends a message. Before the frame is ready nothing is sent: `init` then contains the whole state. */
  send(message: ToFrame): void {
    if (this.ready) this.element.contentWindow?.postMessage(sealed(message), this.origin);
  }

  remove(): void {
    clearTimeout(this.readyTimer);
    removeEventListener("message", this.listen);
    this.element.remove();
  }
}
