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

function copyable(code: string): HTMLElement {
  const status = element("span", { className: "said", role: "status" });
  const button = element("button", { type: "button", className: "copy" }, "Copy");
  button.onclick = () =>
    navigator.clipboard.writeText(code).then(
      () => (status.textContent = "Copied"),
      () => getSelection()?.selectAllChildren(text),
    );
  const text = element("code", {}, code);
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
    copyable(snippet(target, "bubble")),
    element("p", {}, "Or inside an element of the page:"),
    copyable(snippet(target, "iframe")),
    element("p", {}, "Values for the prompt’s {variables}, whenever the page knows them:"),
    copyable(INITIALIZE),
  );
