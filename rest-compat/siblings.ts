import type { CompiledRoute } from "./compile";

/** The part of a path before its first parameter: paths that share it belong to the same record. */
const collectionOf = (path: string): string => path.split("/:", 1)[0]!;
/** The parts of an assistant, which requests that name an assistant in their body may be meant to change. */
const PART_OF_ASSISTANT = /^\/rest\/v1\/assistants\/:\w+\/\w+$/;

/** The requests that set each field which `route` does not take: those for other parts of its record. */
function settersFor(route: CompiledRoute, routes: readonly CompiledRoute[]): Map<string, string[]> {
  const own = route.operation?.bodyFields ?? [];
  const setters = new Map<string, string[]>();
  for (const { method, path, operation } of routes) {
    const isPart =
      collectionOf(path) === collectionOf(route.path) ||
      (own.includes("assistantId") && PART_OF_ASSISTANT.test(path));
    if (method !== "patch" || !isPart) continue;
    for (const name of operation?.bodyFields ?? [])
      if (!own.includes(name)) setters.set(name, [...(setters.get(name) ?? []), path]);
  }
  return setters;
}

/** "PATCH a, b or c", with the parameters of the paths in braces. */
function request(paths: readonly string[]): string {
  const shown = paths.map((path) => path.replace(/:(\w+)/g, "{$1}"));
  return `PATCH ${shown.slice(0, -1).join(", ")}${shown.length > 1 ? " or " : ""}${shown.at(-1)}`;
}

/** Adds to each route the requests that set fields which it does not take. */
export const withSetters = (routes: readonly CompiledRoute[]): CompiledRoute[] =>
  routes.map((route) => {
    const setters = [...settersFor(route, routes)].map(([name, paths]) => [name, request(paths)] as const);
    return route.operation?.input ? { ...route, setters: new Map(setters) } : route;
  });
