import { signal } from "@preact/signals";
import { forTab } from "./storage";

/** Said, but not yet known to be stored. Its id makes sure that it is stored once, however often it is sent. */
export interface Outgoing {
  readonly clientId: string;
  readonly content: string;
  readonly refused: boolean;
}

const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );

/** What waits to be sent outlives a reload of the page. */
export class Outbox {
  readonly items = signal<readonly Outgoing[]>([]);

  constructor(private readonly place?: string) {
    const kept = place === undefined ? null : forTab.read(place);
    if (Array.isArray(kept)) this.items.value = kept as Outgoing[];
  }

  get next(): Outgoing | undefined {
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

  private change(items: readonly Outgoing[]): void {
    this.items.value = items;
    if (this.place !== undefined) forTab.write(this.place, items);
  }
}
