import { complain, guarded } from "./report";
import { ownScript, readSettings, SCRIPT_ID, TagMistake } from "./settings";
import { CompanionWidget } from "./companion-widget";

declare global {
  interface Window {
    CompanionWidget?: unknown;
  }
}

/** If the script is loaded again, it adds a widget to the existing ones. */
function library(): CompanionWidget {
  const existing = window.CompanionWidget;
  if (CompanionWidget.is(existing)) return existing;
  const created = new CompanionWidget();
  window.CompanionWidget = created;
  return created;
}

/** Waits until the page has had the opportunity to add its elements and listeners. */
function whenRead(work: () => void): void {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", work, { once: true });
  else work();
}

function show(script: HTMLScriptElement | undefined): void {
  try {
    const settings = readSettings(script);
    whenRead(guarded("The widget", () => library().add(settings)));
  } catch (error) {
    if (!(error instanceof TagMistake)) throw error;
    complain(error.message);
    // In a new task: a script that a page adds later runs before the listener of its own load event.
    whenRead(() => setTimeout(() => library().fail("The script tag", error.message)));
  }
}

guarded("The widget", () => {
  if (!("attachShadow" in Element.prototype) || typeof HTMLDialogElement === "undefined")
    return complain("This browser is too old for the widget.");
  const script = ownScript();
  if (script && !document.getElementById(SCRIPT_ID)) script.id = SCRIPT_ID;
  library();
  show(script);
})();
