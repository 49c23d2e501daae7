import { sealed, unsealed, type ToFrame, type ToPage } from "../protocol";

/**
 * The page that contains the frame. Messages are exchanged only with its window on the origin that the loader named.
 */
export class Host {
  private readonly parent: Window | undefined;
  /** Pages opened from a file have the origin "null", which cannot be a target of messages. */
  private readonly target: string;

  constructor(
    private readonly origin: string,
    private readonly onMessage: (message: ToFrame) => void,
  ) {
    this.parent = window.parent === window ? undefined : window.parent;
    this.target = origin === "null" ? "*" : origin;
    if (this.parent) addEventListener("message", this.listen);
  }

  /** Whether the frame's page is opened directly instead of in a frame. */
  get isTopLevel(): boolean {
    return this.parent === undefined;
  }

  private readonly listen = (event: MessageEvent) => {
    if (event.source !== this.parent || event.origin !== this.origin) return;
    const message = unsealed<ToFrame>(event.data);
    if (message) this.onMessage(message);
  };

  send(message: ToPage): void {
    if (this.target) this.parent?.postMessage(sealed(message), this.target);
  }
}
