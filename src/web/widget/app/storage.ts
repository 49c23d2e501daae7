/** Storage with a fallback to memory: browsers may deny storage to cross-site frames, or entirely. */
export class SafeStorage {
  private readonly memory = new Map<string, string>();

  constructor(private readonly storage: () => Storage) {}

  read(name: string): unknown {
    try {
      return JSON.parse(this.text(name) ?? "null");
    } catch {
      return null; // not written by the widget
    }
  }

  write(name: string, value: unknown): void {
    const text = JSON.stringify(value);
    this.memory.set(name, text);
    try {
      this.storage().setItem(name, text);
    } catch {
      // stored in memory only
    }
  }

  forget(name: string): void {
    this.memory.delete(name);
    try {
      this.storage().removeItem(name);
    } catch {
      // storage is blocked
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

/** A function, because even reading the property throws if storage is blocked. */
export const forTab = new SafeStorage(() => sessionStorage);
export const forBrowser = new SafeStorage(() => localStorage);
