import "./demo.css";
import { element } from "./element";
import { labelsOf } from "./labels";
import { snippets, type WidgetTarget } from "./snippet";

interface DemoData {
  readonly publicKey: string | null;
  readonly assistantId: string | null;
  readonly assistants: readonly { readonly id: string; readonly name: string }[];
}

const data = JSON.parse(document.getElementById("demo-data")?.textContent ?? "null") as DemoData | null;
const address = new URLSearchParams(location.search);
const page = document.getElementById("demo")!;

const publicKey = address.get("publicKey") ?? data?.publicKey ?? "";
const assistants = data?.assistants ?? [];
const labels = labelsOf(assistants);
const only = assistants.length === 1 ? assistants[0]!.id : undefined;
const assistantId = address.get("assistantId") ?? data?.assistantId ?? only;
const deploymentId = address.get("deploymentId") ?? undefined;

function visit(changes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(changes)) address.set(name, value);
  location.search = address.toString();
}

function load(target: WidgetTarget, appearance: "bubble" | "iframe"): void {
  const script = element("script", { src: "companion-widget.js", async: true });
  if (appearance === "bubble") script.id = "companion-widget-script";
  Object.assign(script.dataset, target, { appearance, locale: address.get("locale") ?? "" });
  document.head.append(script);
}

/** A menu of the assistants; empty if there are fewer than two. */
function choice(): HTMLElement | string {
  if (assistants.length < 2) return "";
  const options = assistants.map(({ id }, index) =>
    element("option", { value: id, selected: id === assistantId }, labels[index]!),
  );
  const select = element("select", { onchange: () => visit({ assistantId: select.value }) }, ...options);
  return element("label", { className: "choice" }, "Assistant ", select);
}

function show(target: WidgetTarget): void {
  const container = element("div", { id: "companion-container" });
  const left = element(
    "div",
    { className: "words" },
    element("h1", {}, "Your assistant on a web page"),
    element(
      "p",
      { className: "lead" },
      "This plain page contains the widget twice: in a corner and inside the page. Try it.",
    ),
    choice(),
    snippets(target),
  );
  page.replaceChildren(left, element("div", { className: "stage" }, container));
  load(target, "bubble");
  load(target, "iframe");
}

/** Creates an assistant to try. The server allows this only to visitors on the same machine. */
async function makeAssistant(words: HTMLElement): Promise<void> {
  const response = await fetch("demo/assistant", { method: "POST" });
  if (response.ok) return visit({ assistantId: ((await response.json()) as { id: string }).id });
  words.textContent = "The assistant could not be created. Reload the page to try again.";
}

function offer(): HTMLElement[] {
  if (assistants.length === 0) {
    const words = element("p", { className: "lead", role: "status" }, "Creating an assistant…");
    void makeAssistant(words);
    return [words];
  }
  const entries = assistants.map(({ id }, index) => {
    const choose = () => visit({ assistantId: id });
    return element(
      "li",
      {},
      element("button", { type: "button", className: "entry", dir: "auto", onclick: choose }, labels[index]!),
    );
  });
  return [element("p", { className: "lead" }, "Choose an assistant"), element("ul", {}, ...entries)];
}

function field(name: string, label: string, value: string): HTMLElement {
  const input = element("input", { name, value, required: true, autocomplete: "off", spellcheck: false });
  return element("label", {}, label, input);
}

/** A form for visitors from other machines, who need a public key and an assistant id. */
function ask(): HTMLElement[] {
  const form = element(
    "form",
    {},
    field("publicKey", "PUBLIC key", publicKey),
    field("assistantId", "Assistant id", assistantId ?? ""),
    element("button", { type: "submit", className: "primary" }, "Show widget"),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    visit(Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)])));
  };
  const how = "Get both from the API: GET /rest/v1/organization/keys/public and GET /rest/v1/assistants.";
  return [element("p", { className: "lead" }, "Choose an assistant"), form, element("p", {}, how)];
}

if (publicKey && (assistantId || deploymentId))
  show({ publicKey, ...(deploymentId ? { deploymentId } : { assistantId }) });
else page.append(...(publicKey ? offer() : ask()));
