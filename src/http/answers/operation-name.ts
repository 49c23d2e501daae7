import type { ServerResponse } from "node:http";
import { Attached } from "../../platform/attached";

interface Route {
  /** The path with the names of its parameters, such as `/rest/v1/assistants/:id`. */
  readonly path: string;
  /** Name of the operation of a route that maps to no GraphQL operation. */
  readonly stream?: string | undefined;
}

const routes = new Attached<Route>();

/** Notes the REST route of a request. */
export const noteRoute = (res: ServerResponse, route: Route): void => routes.set(res, route);

/** The route of a request: unlike its path, it contains no ids. @param url as the client sent it: routers shorten it */
export const routeOf = (res: ServerResponse, url: string): string | undefined =>
  routes.get(res)?.path ?? /^\/(graphql|mcp)(?=\?|$)/.exec(url)?.[0];

/** The operation of a request, by which metrics and spans name it. REST responses name it in a header. */
export function operationOf(res: ServerResponse, url: string): string {
  return String(res.getHeader("GraphQL-Operation") ?? routes.get(res)?.stream ?? operationAt(url));
}

/** The operation at an address that is no REST route. Probes would hide the rates of what people request. */
function operationAt(url: string): string {
  if (isProbe(url)) return "probe";
  return /^\/(graphql|mcp)(?=\?|$)/.exec(url)?.[1] ?? "other";
}

/** Whether a request is a health check or a scrape. */
export const isProbe = (url: string): boolean => /^\/(health\/(live|ready)|metrics)(\?|$)/.test(url);
