import { signal } from "@preact/signals";
import { forTab } from "./storage";

/**
 * A message that is not yet confirmed as stored. Its id ensures that it is stored only once, however often it is
 * sent.
 */
export interface OutgoingMessage {
  readonly clientId: string;
  readonly content: string;
  readonly refused: boolean;
}

const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );

/** Unsent messages and the text in the input, which survive a reload of the page. */
export class Outbox {
  readonly items = signal<readonly OutgoingMessage[]>([]);
  /** Text that the visitor has typed and not yet sent. */
  readonly typed = signal("");

  constructor(private readonly storageKey?: string) {
    if (storageKey === undefined) return;
    const [items, typed] = [forTab.read(storageKey), forTab.read(`${storageKey}:typed`)];
    if (Array.isArray(items)) this.items.value = items as OutgoingMessage[];
    if (typeof typed === "string") this.typed.value = typed;
  }

  type(text: string): void {
    this.typed.value = text;
    if (this.storageKey === undefined) return;
    if (text === "") forTab.forget(`${this.storageKey}:typed`);
    else forTab.write(`${this.storageKey}:typed`, text);
  }

  get next(): OutgoingMessage | undefined {
    return this.items.value.find(({ refused }) => !refused);
  }

  add(content: string): void {
    this.change([...this.items.value, { clientId: newId(), content, refused: false }]);
  }

  remove(clientId: string): void {
    if (this.items.value.some((item) => item.clientId === clientId))
      this.change(this.items.value.filter((item) => item.clientId !== clientId));
  }

  mark(clientId: string, refused: boolean): void {
    this.change(this.items.value.map((item) => (item.clientId === clientId ? { ...item, refused } : item)));
  }

  clear(): void {
    this.change([]);
  }

  private change(items: readonly OutgoingMessage[]): void {
    this.items.value = items;
    if (this.storageKey !== undefined) forTab.write(this.storageKey, items);
  }
}
