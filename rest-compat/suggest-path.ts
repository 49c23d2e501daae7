import { nearest } from "../src/platform/nearest";
import type { CompiledRoute } from "./compile";
import { RouteTable } from "./match";

/** Beginnings that clients forget. */
const BEGINNINGS = ["/rest", "/rest/v1"];

/** Returns a function that finds the path which was probably meant instead of one that does not exist. */
export function pathSuggester(routes: readonly CompiledRoute[]): (path: string) => string | undefined {
  const table = new RouteTable(routes);
  const fixed = routes.map(({ path }) => path).filter((path) => !path.includes(":"));
  return (path) => {
    if (!/^\/[\w./-]{1,100}$/.test(path)) return undefined;
    const longer = BEGINNINGS.map((beginning) => beginning + path);
    return longer.find((one) => table.find("GET", one) !== undefined) ?? nearest(path, fixed);
  };
}
