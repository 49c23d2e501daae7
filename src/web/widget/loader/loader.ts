import { complain, guarded } from "./report";
import { ownScript, readSettings, SCRIPT_ID, type Settings } from "./settings";
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

function show(settings: Settings): void {
  const place = guarded("The widget", () => library().add(settings));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", place, { once: true });
  else place();
}

guarded("The widget", () => {
  if (!("attachShadow" in Element.prototype) || typeof HTMLDialogElement === "undefined")
    return complain("This browser is too old for the widget.");
  const script = ownScript();
  if (script && !document.getElementById(SCRIPT_ID)) script.id = SCRIPT_ID;
  library();
  const settings = readSettings(script);
  if (settings) show(settings);
})();
