import { useEffect, useState } from "preact/hooks";
import { CONVERSATION } from "./filters";
import type { OpenedLog } from "./transcript";

/** The conversation that the address names; its title comes from the entry of the history, which a link lacks. */
function logOfAddress(): OpenedLog | undefined {
  const [assistantId, id] = new URLSearchParams(location.search).get(CONVERSATION)?.split("/") ?? [];
  if (!assistantId || !id) return undefined;
  const { title = "" } = (history.state ?? {}) as Partial<OpenedLog>;
  return { assistantId, id, title };
}

function addressOf(log: OpenedLog | undefined): string {
  const parameters = new URLSearchParams(location.search);
  if (log) parameters.set(CONVERSATION, `${log.assistantId}/${log.id}`);
  else parameters.delete(CONVERSATION);
  return `${location.pathname}?${parameters.toString()}`;
}

/** The conversation whose transcript is open. It has an entry in the history, so that "Back" closes it. */
export function useOpenedLog() {
  const [openedLog, show] = useState(logOfAddress);
  useEffect(() => {
    const changed = () => show(logOfAddress());
    addEventListener("popstate", changed);
    return () => removeEventListener("popstate", changed);
  }, []);
  const open = (log: OpenedLog) => {
    history.pushState(log, "", addressOf(log));
    show(log);
  };
  const close = () => {
    if (history.state) return history.back();
    history.replaceState(null, "", addressOf(undefined)); // opened by a link
    show(undefined);
  };
  return { openedLog, open, close };
}
