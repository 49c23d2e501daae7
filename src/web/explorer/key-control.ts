import { refusalOf } from "./key-check";
import { currentKey, forgetKey, onKeyChange, setKey } from "./key";

/** Characters of a key that are shown, to tell keys apart. */
const SHOWN = 4;

const NOTE_ID = "parley-key-note";

const TOKEN = /^(Bearer +)?[\w-]+\.[\w-]+\.[\w-]*$/i;

/** A note about a value that is no SECRET key, judged by its form; otherwise empty. */
function adviceOn(value: string): string {
  if (value.startsWith("parley_pk_"))
    return "This is a PUBLIC key. Most operations refuse it with FORBIDDEN; use a SECRET key.";
  if (TOKEN.test(value))
    return "This is a token, not a key. Use a SECRET key here, or send the token in the header Authorization.";
  return "";
}

function noteOn(value: string): HTMLElement {
  const note = document.createElement("p");
  note.setAttribute("role", "status");
  note.id = NOTE_ID;
  note.textContent = adviceOn(value);
  return note;
}

const button = (text: string, type: "submit" | "button") =>
  Object.assign(document.createElement("button"), { textContent: text, type });

/** Shows a field for the key, or the key in use and a button that clears it. */
class KeyControl extends HTMLElement {
  /** The key that the service has accepted here. */
  private accepted = "";

  connectedCallback(): void {
    this.show();
    onKeyChange(() => this.show());
  }

  private show(): void {
    const key = currentKey();
    const note = noteOn(key);
    this.replaceChildren(key ? this.used(key) : this.entry(note), note);
    if (key && key !== this.accepted) void this.check(key, note);
  }

  /** Checks a key that was stored earlier, or entered elsewhere on the page. */
  private async check(key: string, note: HTMLElement): Promise<void> {
    const refusal = await refusalOf(key);
    if (refusal) note.textContent = refusal;
  }

  /** Uses an entered key unless the service refuses it. */
  private async use(field: HTMLInputElement, note: HTMLElement): Promise<void> {
    const key = field.value.trim();
    if (key === "") return;
    note.textContent = "Checking the key …";
    const refusal = await refusalOf(key);
    if (!field.isConnected || field.value.trim() !== key) return; // changed meanwhile
    field.ariaInvalid = String(refusal !== "");
    note.textContent = refusal;
    if (refusal) return field.focus();
    this.accepted = key;
    setKey(key);
    this.querySelector("button")?.focus();
  }

  private entry(note: HTMLElement): HTMLElement {
    const field = Object.assign(document.createElement("input"), {
      type: "password",
      autocomplete: "off",
      spellcheck: false,
      placeholder: "Secret key",
    });
    field.setAttribute("aria-describedby", NOTE_ID);
    const label = document.createElement("label");
    label.append("API key", field);
    const form = document.createElement("form");
    form.append(label, button("Use key", "submit"));
    field.addEventListener("input", () => {
      field.ariaInvalid = null;
      note.textContent = adviceOn(field.value.trim());
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.use(field, note);
    });
    return form;
  }

  private used(key: string): HTMLElement {
    const shown = document.createElement("span");
    shown.textContent = `Key …${key.slice(-SHOWN)}`;
    shown.title = "Used by the playground and the REST documentation in this browser tab, until it is closed";
    const clear = button("Clear key", "button");
    clear.addEventListener("click", () => {
      forgetKey();
      this.querySelector("input")?.focus();
    });
    const place = document.createElement("div");
    place.append(shown, clear);
    return place;
  }
}

customElements.define("parley-key", KeyControl);
