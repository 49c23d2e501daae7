import { copyText } from "../../documentation/copy-text";
import { element } from "./element";

export interface WidgetTarget {
  readonly publicKey: string;
  readonly assistantId?: string;
  readonly deploymentId?: string;
}

const escapeAttribute = (text: string) =>
  text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");

/** The script tag to copy into a page. */
function snippet(
  { publicKey, assistantId, deploymentId }: WidgetTarget,
  appearance: "bubble" | "iframe",
): string {
  const target = deploymentId
    ? `data-deployment-id="${escapeAttribute(deploymentId)}"`
    : `data-assistant-id="${escapeAttribute(assistantId ?? "")}"`;
  const container = appearance === "iframe" ? `<div id="companion-container"></div>\n` : "";
  const look = appearance === "iframe" ? `\n  data-appearance="iframe"` : "";
  return `${container}<script
  id="companion-widget-script"
  src="${new URL("companion-widget.js", location.href).href}"
  ${target}
  data-public-key="${escapeAttribute(publicKey)}"${look}
  async
></script>`;
}

const STATUS_MS = 3_000;

/** @param what words that tell the button from the other ones */
function copyable(what: string, code: string): HTMLElement {
  const status = element("span", { className: "said", role: "status" });
  const button = element("button", { type: "button", className: "copy", ariaLabel: `Copy ${what}` }, "Copy");
  const text = element("code", {}, code);
  let timer = 0;
  button.onclick = async () => {
    clearTimeout(timer);
    status.textContent = (await copyText(text)) ? "Copied" : "Selected; press Ctrl+C";
    timer = setTimeout(() => (status.textContent = ""), STATUS_MS);
  };
  return element("div", { className: "code" }, element("pre", { tabIndex: 0 }, text), status, button);
}

const INITIALIZE = `document.addEventListener("companion-iframe-loaded", () => {
  CompanionWidget.initializeAssistant({ user_name: "Ada" });
});`;

/** Instructions for adding the widget to a page. */
export const snippets = (target: WidgetTarget): HTMLElement =>
  element(
    "section",
    {},
    element("h2", {}, "Add it to your page"),
    element("p", {}, "A button in a corner that opens the assistant:"),
    copyable("the code of the button", snippet(target, "bubble")),
    element("p", {}, "Or inside an element of the page:"),
    copyable("the code of the element", snippet(target, "iframe")),
    element("p", {}, "Values for the prompt’s {variables}, whenever the page knows them:"),
    copyable("the code with values", INITIALIZE),
  );
