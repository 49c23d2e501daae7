import type { Look } from "../protocol";
import { LAUNCHER_STYLE } from "./launcher-style";

/** On such screens the dialog covers the page, which is inaccessible until the dialog is closed. */
const SMALL_SCREEN = "(max-width: 480px), (max-height: 480px)";
const CHAT_ICON = "M21 11.5a8.4 8.4 0 0 1-12.3 7.4L3.5 20.5l1.6-4.6A8.4 8.4 0 1 1 21 11.5Z";
const SHUT_ICON = "M6 9.5l6 6 6-6";

function element<K extends keyof HTMLElementTagNameMap>(name: K, className = "", ...children: Node[]) {
  const created = document.createElement(name);
  created.className = className;
  created.append(...children);
  return created;
}

function icon(className: string, path: string): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", className);
  const line = document.createElementNS(svg.namespaceURI, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/** Style sheets constructed by script are allowed even if the page's content security policy forbids inline styles. */
function addStyles(root: ShadowRoot): void {
  if (!("replaceSync" in CSSStyleSheet.prototype)) {
    const style = element("style");
    style.textContent = LAUNCHER_STYLE;
    return root.append(style);
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(LAUNCHER_STYLE);
  root.adoptedStyleSheets = [sheet];
}

/** A button in a corner, and the dialog with the frame. */
export class Bubble {
  private readonly host = element("div");
  private readonly text = element("span", "text");
  private readonly badge = element("span", "badge");
  private readonly launcher: HTMLButtonElement;
  private readonly dialog: HTMLDialogElement;
  private look: Look | undefined;
  private unread = 0;

  /** Element of the page that had the focus when the dialog opened, and gets it back. */
  private opener: HTMLElement | undefined;

  constructor(
    frame: HTMLIFrameElement,
    private readonly position: "left" | "right" | undefined,
    toggle: () => void,
    closed: () => void,
  ) {
    const root = this.host.attachShadow({ mode: "open" });
    addStyles(root);
    this.host.id = "companion-widget";
    this.dialog = element("dialog", "", frame);
    this.launcher = element(
      "button",
      "launcher",
      icon("chat", CHAT_ICON),
      icon("shut", SHUT_ICON),
      this.text,
      this.badge,
    );
    this.launcher.type = "button";
    this.launcher.hidden = true;
    this.launcher.setAttribute("aria-haspopup", "dialog");
    this.launcher.addEventListener("click", toggle);
    // Escape closes a dialog that covers the whole screen.
    this.dialog.addEventListener("close", () => {
      this.name();
      (this.opener?.isConnected ? this.opener : this.launcher).focus({ preventScroll: true });
      closed();
    });
    root.append(this.launcher, this.dialog);
    document.body.append(this.host);
  }

  get isOpen(): boolean {
    return this.dialog.open;
  }

  /** Whether the launcher is visible, because the frame has loaded. */
  get isShown(): boolean {
    return this.look !== undefined;
  }

  show(look: Look): void {
    this.look = look;
    const { style } = this.host;
    style.setProperty("--color", look.color);
    style.setProperty("--on-color", look.onColor);
    style.setProperty("--font", look.fontFamily);
    style.setProperty("--radius", `${look.radius}px`);
    const side = this.position ?? look.position;
    this.dialog.className = side;
    this.dialog.setAttribute("aria-label", look.title);
    this.text.textContent = look.launcherText;
    this.text.hidden = look.launcherText === "";
    this.launcher.classList.remove("left", "right");
    this.launcher.classList.add(side);
    this.launcher.hidden = false;
    this.name();
  }

  showUnread(count: number): void {
    this.unread = count;
    this.badge.textContent = count > 0 ? String(Math.min(count, 99)) : "";
    this.name();
  }

  open(): void {
    const { activeElement: focused } = document;
    const isOfPage = focused instanceof HTMLElement && focused !== document.body && focused !== this.host;
    this.opener = isOfPage ? focused : undefined;
    if (matchMedia(SMALL_SCREEN).matches) this.dialog.showModal();
    else this.dialog.show();
    this.name();
  }

  close(): void {
    this.dialog.close();
  }

  remove(): void {
    this.host.remove();
  }

  private name(): void {
    const words = this.look?.words;
    const label = this.isOpen ? words?.close : this.look?.launcherText || words?.open;
    const unread = this.unread > 0 && !this.isOpen ? `, ${words?.unread}: ${this.unread}` : "";
    this.launcher.setAttribute("aria-label", `${label ?? ""}${unread}`);
    this.launcher.setAttribute("aria-expanded", String(this.isOpen));
    this.launcher.classList.toggle("opened", this.isOpen);
  }
}
