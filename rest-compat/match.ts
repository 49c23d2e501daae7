import { invalid } from "../src/platform/errors";
import type { CompiledRoute } from "./compile";
import type { Method } from "./route";

interface PathNode {
  readonly fixed: Map<string, PathNode>;
  parameter?: PathNode;
  /** The routes that end here, by method. */
  readonly rows: Map<Method, { readonly route: CompiledRoute; readonly names: readonly string[] }>;
}

export interface Match {
  readonly route: CompiledRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** A path that exists, but not with this method. */
export interface OtherMethods {
  /** The methods of the path. */
  readonly allowed: readonly Method[];
  /** Paths one segment longer that have the method. */
  readonly longer: readonly string[];
}

const newNode = (): PathNode => ({ fixed: new Map(), rows: new Map() });

/** Finds routes by method and path segments; fixed segments take precedence over parameters. */
export class RouteTable {
  private readonly root = newNode();

  constructor(routes: readonly CompiledRoute[]) {
    for (const route of routes) this.add(route);
  }

  /** Finds the route of a request. @returns undefined for an unknown path */
  find(method: string, path: string): Match | OtherMethods | undefined {
    const raw = path.split("/").slice(1);
    if (raw.at(-1) === "") raw.pop();
    const values: string[] = [];
    const found = walk(this.root, raw, 0, values);
    if (!found) return undefined;
    const wanted = (method === "HEAD" ? "get" : method.toLowerCase()) as Method;
    const row = found.rows.get(wanted);
    if (!row) return { allowed: [...found.rows.keys()], longer: longerPaths(found, wanted) };
    return {
      route: row.route,
      params: Object.fromEntries(row.names.map((name, index) => [name, decoded(name, values[index]!)])),
    };
  }

  private add(route: CompiledRoute): void {
    const names: string[] = [];
    let node = this.root;
    for (const segment of route.path.split("/").slice(1)) {
      if (segment.startsWith(":")) {
        names.push(segment.slice(1));
        node = node.parameter ??= newNode();
      } else {
        if (!node.fixed.has(segment)) node.fixed.set(segment, newNode());
        node = node.fixed.get(segment)!;
      }
    }
    node.rows.set(route.method, { route, names });
  }
}

function longerPaths({ fixed, parameter }: PathNode, method: Method): string[] {
  const nodes = [...fixed.values(), ...(parameter ? [parameter] : [])];
  return nodes.flatMap(({ rows }) => rows.get(method)?.route.path.replace(/:(\w+)/g, "{$1}") ?? []);
}

function walk(
  node: PathNode,
  segments: readonly string[],
  index: number,
  values: string[],
): PathNode | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.rows.size > 0 ? node : undefined;
  const fixed = node.fixed.get(segment);
  const found = fixed && walk(fixed, segments, index + 1, values);
  if (found || !node.parameter || segment === "") return found;
  values.push(segment);
  return walk(node.parameter, segments, index + 1, values) ?? void values.pop();
}

/** Decodes a path segment. @throws BAD_USER_INPUT with this name if it is not valid UTF-8 */
export function decoded(name: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid([{ path: name, message: "is not percent-encoded UTF-8" }]);
  }
}
