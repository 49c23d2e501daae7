/** Browsers refuse storage to frames of other sites, or altogether; then what is kept lasts as long as the page. */
export class Kept {
  private readonly memory = new Map<string, string>();

  constructor(private readonly storage: () => Storage) {}

  read(name: string): unknown {
    try {
      return JSON.parse(this.text(name) ?? "null");
    } catch {
      return null; // written by something else
    }
  }

  write(name: string, value: unknown): void {
    const text = JSON.stringify(value);
    this.memory.set(name, text);
    try {
      this.storage().setItem(name, text);
    } catch {
      // the memory has it
    }
  }

  forget(name: string): void {
    this.memory.delete(name);
    try {
      this.storage().removeItem(name);
    } catch {
      // there was nothing
    }
  }

  private text(name: string): string | null | undefined {
    try {
      return this.storage().getItem(name) ?? this.memory.get(name);
    } catch {
      return this.memory.get(name);
    }
  }
}

/** Reading the property itself throws where storage is blocked. */
export const forTab = new Kept(() => sessionStorage);
export const forBrowser = new Kept(() => localStorage);
