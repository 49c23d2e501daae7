import type { JsonObject } from "../../platform/json/json-object";

/** Reads the fields of an object by their paths, and remembers which were read: the report lists all others. */
export class Fields {
  private readonly taken = new Set<string>();

  constructor(private readonly root: JsonObject) {}

  /** The value at a path such as `model.tools.0.type`, without taking it. */
  peek(path: string): unknown {
    return path
      .split(".")
      .reduce<unknown>((value, name) => (Object(value) as JsonObject)[name] ?? undefined, this.root);
  }

  text(path: string): string | undefined {
    return this.ifIs(path, (value): value is string => typeof value === "string");
  }

  number(path: string): number | undefined {
    return this.ifIs(path, (value): value is number => typeof value === "number");
  }

  boolean(path: string): boolean | undefined {
    return this.ifIs(path, (value): value is boolean => typeof value === "boolean");
  }

  object(path: string): JsonObject | undefined {
    return this.ifIs(path, isPlain);
  }

  /** The paths of the objects in a list, which are not taken. */
  entries(path: string): string[] {
    const list = this.peek(path);
    return Array.isArray(list) ? list.map((_, index) => `${path}.${index}`) : [];
  }

  take(...paths: readonly string[]): void {
    for (const path of paths) this.taken.add(path);
  }

  /** The paths of all values that were not taken. Empty values are left out. */
  rest(): string[] {
    return leavesOf(this.root).filter((path) => !this.isTaken(path));
  }

  isTaken(path: string): boolean {
    for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1))
      if (this.taken.has(path.slice(0, end))) return true;
    return false;
  }

  private ifIs<T>(path: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.peek(path);
    if (!is(value)) return undefined;
    this.take(path);
    return value;
  }
}

const isPlain = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The paths of all values in an object that are neither objects nor lists. */
export function leavesOf(value: unknown, path = ""): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(inner, path === "" ? name : `${path}.${name}`),
  );
}
