import { currentKey, forgetKey, onKeyChange, setKey } from "./key";

/** Characters of a key that are shown, to tell keys apart. */
const SHOWN = 4;

const button = (text: string, type: "submit" | "button") =>
  Object.assign(document.createElement("button"), { textContent: text, type });

/** Shows a field for the key, or the key in use and a button that clears it. */
class KeyControl extends HTMLElement {
  connectedCallback(): void {
    this.show();
    onKeyChange(() => this.show());
  }

  private show(): void {
    const key = currentKey();
    this.replaceChildren(key ? this.used(key) : this.entry());
  }

  private entry(): HTMLElement {
    const field = Object.assign(document.createElement("input"), {
      autocomplete: "off",
      spellcheck: false,
      placeholder: "Secret key",
    });
    const label = document.createElement("label");
    label.append("API key", field);
    const form = document.createElement("form");
    form.append(label, button("Use key", "submit"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      setKey(field.value.trim());
      this.querySelector("button")?.focus();
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
