import "./demo.css";
import { element } from "./element";
import { snippets, type Shown } from "./snippet";

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
const only = assistants.length === 1 ? assistants[0]!.id : undefined;
const assistantId = address.get("assistantId") ?? data?.assistantId ?? only;
const deploymentId = address.get("deploymentId") ?? undefined;

function visit(changes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(changes)) address.set(name, value);
  location.search = address.toString();
}

function load(shown: Shown, appearance: "bubble" | "iframe"): void {
  const script = element("script", { src: "companion-widget.js", async: true });
  if (appearance === "bubble") script.id = "companion-widget-script";
  Object.assign(script.dataset, shown, { appearance, locale: address.get("locale") ?? "" });
  document.head.append(script);
}

/** The assistants that this page may offer. */
function choice(): HTMLElement | string {
  if (assistants.length < 2) return "";
  const options = assistants.map(({ id, name }) =>
    element("option", { value: id, selected: id === assistantId }, name),
  );
  const select = element("select", { onchange: () => visit({ assistantId: select.value }) }, ...options);
  return element("label", { className: "choice" }, "Assistant ", select);
}

function show(shown: Shown): void {
  const container = element("div", { id: "companion-container" });
  const left = element(
    "div",
    { className: "words" },
    element("h1", {}, "Your assistant on a page"),
    element(
      "p",
      { className: "lead" },
      "This is a plain page with the widget on it twice: in a corner, and inside of the page. Talk to it.",
    ),
    choice(),
    snippets(shown),
  );
  page.replaceChildren(left, element("div", { className: "stage" }, container));
  load(shown, "bubble");
  load(shown, "iframe");
}

/** Only this machine's own visitors may; then there is something to talk to at once. */
async function makeAssistant(words: HTMLElement): Promise<void> {
  const response = await fetch("demo/assistant", { method: "POST" });
  if (response.ok) return visit({ assistantId: ((await response.json()) as { id: string }).id });
  words.textContent = "No assistant could be made. Load the page again to try once more.";
}

function offer(): HTMLElement[] {
  if (assistants.length === 0) {
    const words = element("p", { className: "lead", role: "status" }, "Making an assistant to talk to …");
    void makeAssistant(words);
    return [words];
  }
  const entries = assistants.map(({ id, name }) => {
    const choose = () => visit({ assistantId: id });
    return element(
      "li",
      {},
      element("button", { type: "button", className: "entry", onclick: choose }, name),
    );
  });
  return [element("p", { className: "lead" }, "Whom do you want to talk to?"), element("ul", {}, ...entries)];
}

function field(name: string, label: string, value: string): HTMLElement {
  const input = element("input", { name, value, required: true, autocomplete: "off", spellcheck: false });
  return element("label", {}, label, input);
}

/** A visitor from elsewhere brings what a page would have. */
function ask(): HTMLElement[] {
  const form = element(
    "form",
    {},
    field("publicKey", "PUBLIC key", publicKey),
    field("assistantId", "Id of the assistant", assistantId ?? ""),
    element("button", { type: "submit", className: "primary" }, "Show it"),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    visit(Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)])));
  };
  const how =
    "Both come from the service: GET /rest/v1/organization/keys/public, and GET /rest/v1/assistants.";
  return [
    element("p", { className: "lead" }, "Which assistant shall be shown?"),
    form,
    element("p", {}, how),
  ];
}

if (publicKey && (assistantId || deploymentId))
  show({ publicKey, ...(deploymentId ? { deploymentId } : { assistantId }) });
else page.append(...(publicKey ? offer() : ask()));
