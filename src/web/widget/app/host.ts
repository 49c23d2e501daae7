import { sealed, unsealed, type ToFrame, type ToPage } from "../protocol";

/** The page around the frame: its window, on the origin that the loader named, and no other. */
export class Host {
  private readonly parent: Window | undefined;
  /** A page out of a file has the origin "null", which no message can be sent to. */
  private readonly target: string;

  constructor(
    private readonly origin: string,
    private readonly heard: (message: ToFrame) => void,
  ) {
    this.parent = window.parent === window ? undefined : window.parent;
    this.target = origin === "null" ? "*" : origin;
    if (this.parent) addEventListener("message", this.listen);
  }

  /** Without a page around it the frame is a page itself. */
  get alone(): boolean {
    return this.parent === undefined;
  }

  private readonly listen = (event: MessageEvent) => {
    if (event.source !== this.parent || event.origin !== this.origin) return;
    const message = unsealed<ToFrame>(event.data);
    if (message) this.heard(message);
  };

  say(message: ToPage): void {
    if (this.target) this.parent?.postMessage(sealed(message), this.target);
  }
}
