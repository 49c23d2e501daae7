import { complain } from "./report";

/** Calls `found` with the element as soon as it exists: an application may add it later. @returns a function that stops waiting */
export function whenThere(id: string, found: (container: HTMLElement) => void): () => void {
  const look = () => {
    const container = document.getElementById(id);
    if (!container) return false;
    watcher.disconnect();
    found(container);
    return true;
  };
  const watcher = new MutationObserver(look);
  if (!look()) {
    complain(`No element with id "${id}" yet: the assistant appears once it is added.`);
    watcher.observe(document.documentElement, { childList: true, subtree: true });
  }
  return () => watcher.disconnect();
}

/** Puts the frame into its container. A container without a height gets a usable one. */
export function fill(container: HTMLElement, frame: HTMLIFrameElement): void {
  const { style } = frame;
  style.display = "block";
  style.width = "100%";
  style.border = "0";
  style.height = container.clientHeight >= 200 ? "100%" : "640px";
  container.append(frame);
}
