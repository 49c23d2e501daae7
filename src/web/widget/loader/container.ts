import { complain } from "./report";

/** Calls back with the page's element once there is one: an application may put it in later. */
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
    complain(`There is no element with the id "${id}" yet: the assistant appears once there is one.`);
    watcher.observe(document.documentElement, { childList: true, subtree: true });
  }
  return () => watcher.disconnect();
}

/** A container without a height of its own gets a usable one. */
export function fill(container: HTMLElement, frame: HTMLIFrameElement): void {
  const { style } = frame;
  style.display = "block";
  style.width = "100%";
  style.border = "0";
  style.height = container.clientHeight >= 200 ? "100%" : "640px";
  container.append(frame);
}
