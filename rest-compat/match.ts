import { invalid } from "../src/platform/errors";
import type { CompiledRoute } from "./compile";
import type { Method } from "./route";

interface Node {
  readonly fixed: Map<string, Node>;
  any?: Node;
  /** The rows that end here, by method. */
  readonly rows: Map<Method, { readonly route: CompiledRoute; readonly names: readonly string[] }>;
}

export interface Match {
  readonly route: CompiledRoute;
  readonly params: Readonly<Record<string, string>>;
}

const node = (): Node => ({ fixed: new Map(), rows: new Map() });

/** Finds rows by method and path segments; a fixed segment comes before a parameter. */
export class RouteTable {
  private readonly root = node();

  constructor(routes: readonly CompiledRoute[]) {
    for (const route of routes) this.add(route);
  }

  /** The row for a request; the methods of the path when it has no such method; undefined for an unknown path. */
  find(method: string, path: string): Match | { readonly allowed: readonly Method[] } | undefined {
    const raw = path.split("/").slice(1);
    if (raw.at(-1) === "") raw.pop();
    const values: string[] = [];
    const found = walk(this.root, raw, 0, values);
    if (!found) return undefined;
    const row = found.rows.get((method === "HEAD" ? "get" : method.toLowerCase()) as Method);
    if (!row) return { allowed: [...found.rows.keys()] };
    return {
      route: row.route,
      params: Object.fromEntries(row.names.map((name, index) => [name, decoded(name, values[index]!)])),
    };
  }

  private add(route: CompiledRoute): void {
    const names: string[] = [];
    let place = this.root;
    for (const segment of route.path.split("/").slice(1)) {
      if (segment.startsWith(":")) {
        names.push(segment.slice(1));
        place = place.any ??= node();
      } else {
        if (!place.fixed.has(segment)) place.fixed.set(segment, node());
        place = place.fixed.get(segment)!;
      }
    }
    place.rows.set(route.method, { route, names });
  }
}

function walk(place: Node, segments: readonly string[], index: number, values: string[]): Node | undefined {
  const segment = segments[index];
  if (segment === undefined) return place.rows.size > 0 ? place : undefined;
  const fixed = place.fixed.get(segment);
  const found = fixed && walk(fixed, segments, index + 1, values);
  if (found || !place.any || segment === "") return found;
  values.push(segment);
  return walk(place.any, segments, index + 1, values) ?? void values.pop();
}

/** @throws BAD_USER_INPUT by this name for what is no UTF-8 */
export function decoded(name: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid([{ path: name, message: "is not percent-encoded UTF-8" }]);
  }
}
