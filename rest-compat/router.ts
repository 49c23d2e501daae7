import type { IncomingMessage, ServerResponse } from "node:http";
import type { GraphQLError } from "graphql";
import { admit } from "../schema/core/access";
import type { Context } from "../schema/core/context";
import { refuseMethod } from "../src/http/errors/refuse-method";
import { noteRoute } from "../src/http/answers/operation-name";
import { beginJson, keepUncompressed, sendJson } from "../src/http/answers/send-json";
import { idempotencyKey, storedKey } from "../src/http/idempotency-key";
import { DomainError, withPaths } from "../src/platform/errors";
import { answerInPieces, piecesOf } from "../src/platform/json/json-source";
import { readFields, readJson, readUnused } from "./body";
import { callerFor } from "./caller-for";
import type { CompiledRoute, Operation } from "./compile";
import { endUnchanged, expectedOf, hasNoTag, runIfMatching, setTag } from "./conditional";
import { decoded, RouteTable } from "./match";
import type { Answer, RestRequest, RestServer, Work } from "./server";
import { readForm, type Form } from "./upload";
import { readVariables, type Inputs } from "./variables";
import { fieldsOfUnusedBody, readOnlyFields, unknownFields, unknownParameters, warn } from "./warnings";

/** An Express middleware. */
type Handler = (req: IncomingMessage, res: ServerResponse, next: () => void) => Promise<void>;

/** Serves the REST routes, found by one table instead of an Express route for each. Other paths go to `next`. */
export function restRouter(server: RestServer, routes: readonly CompiledRoute[]): Handler {
  const table = new RouteTable(routes);
  for (const { id, stream } of routes)
    if (stream !== undefined && !server.streams[stream])
      throw new Error(`The REST route ${id} names the stream ${stream}, which has no handler.`);
  return async (req, res, next) => {
    try {
      const found = table.find(req.method!, req.url!.split("?", 1)[0]!);
      if (!found) return next();
      if ("allowed" in found) return refuseMethod(req, res, found.allowed, found.longer);
      noteRoute(res, found.route);
      await handle(server, found.route, found.params, req, res);
    } catch (error) {
      server.sendError(res, error);
    }
  };
}

const KEY_UNUSED = "The header Idempotency-Key was ignored: only POST requests have it.";
const TAG_UNUSED = "The header If-Match was ignored: only PATCH and DELETE requests have it.";

async function handle(
  server: RestServer,
  route: CompiledRoute,
  params: Readonly<Record<string, string>>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const search = req.url!.split("?").slice(1).join("?");
  if (search !== "") warn(res, unknownParameters(route, new URLSearchParams(search)));
  if (route.method !== "post" && req.headers["idempotency-key"] !== undefined) warn(res, [KEY_UNUSED]);
  if (!changes(route) && req.headers["if-match"] !== undefined) warn(res, [TAG_UNUSED]);
  if (route.stream) {
    const read = route.body === "form" ? readFields : readJson;
    return server.streams[route.stream]!(req, res, await read(req, res, route.bodyLimit));
  }
  if (route.operation) res.setHeader("GraphQL-Operation", route.operation.name);
  const caller = await callerFor(server, route.auth, req, res);
  if (!route.operation)
    throw new DomainError(
      "NOT_IMPLEMENTED",
      `${route.summary}: not implemented. Use the GraphQL operation of the same purpose.`,
    );
  admit(route.operation.access, caller); // before the body is read
  const form = route.body === "multipart" ? await readForm(req, server) : undefined;
  try {
    const body = route.operation.input ? await readJson(req, res) : undefined;
    if (!route.operation.input && !form) warn(res, fieldsOfUnusedBody(await readUnused(req, res)));
    if (server.lenient) warn(res, unknownFields(route, body));
    const query = queryOf(search);
    const inputs = { params, query, body, ...(form && { form: form.values }) };
    const variables = readVariables(route, route.operation, inputs, server.lenient);
    const request = { req, res, auth: route.auth, caller };
    const cost = route.operation.costOf(variables);
    res.setHeader("GraphQL-Cost", cost);
    const work = () => answer(server, route, request, variables, { params, body, form });
    await server.limited(() => server.largeLimited(cost, work));
  } finally {
    form?.release();
  }
}

/**
 * Parses the query string. @throws BAD_USER_INPUT if it is not valid UTF-8, which would otherwise be silently
 * replaced
 */
function queryOf(query: string): URLSearchParams {
  for (const part of query.includes("%") ? query.split("&") : []) {
    const [name = ""] = new URLSearchParams(part).keys();
    decoded(name, part);
  }
  return new URLSearchParams(query);
}

async function answer(
  server: RestServer,
  route: CompiledRoute,
  request: RestRequest,
  variables: Record<string, unknown>,
  { params, body, form }: Pick<Inputs, "params" | "body"> & { readonly form: Form | undefined },
): Promise<void> {
  const { req, res, caller } = request;
  const context = server.contextOf(request);
  const finish = (answer: Finished) => {
    warn(res, readOnlyFields(route, body, answer.body));
    const { continuation } = context.scope.notes;
    if (continuation !== undefined) res.setHeader("Link", linkToNext(req.url!, continuation));
    return send(res, answer, context.scope, route.tagged);
  };
  const work: Work = (scope, attemptId) => run(route, server.contextOf(request, scope, attemptId), variables);
  const key = route.method === "post" ? idempotencyKey(req) : undefined;
  if (key === undefined) {
    if (!route.tagged) answerInPieces(context.scope);
    const expected = changes(route) ? expectedOf(req) : undefined;
    if (expected === undefined || expected === "*") return finish(await work(context.scope));
    const read = readerOf(server, route, request, params);
    return finish(await runIfMatching(context.scope, expected, read, work));
  }
  const content = [route.id, req.url!, form?.identity ?? variables];
  const repeatable = { key: storedKey(caller, key), content, waits: route.operation!.waits(variables) };
  const { replayed, ...answer } = await server.once(context, repeatable, work);
  if (replayed) res.setHeader("Idempotency-Replayed", "true");
  await finish(answer);
}

const changes = ({ method }: CompiledRoute): boolean => method === "patch" || method === "delete";

/** Reads the record that a route changes. @throws PRECONDITION_FAILED if the path has no ETag */
function readerOf(
  server: RestServer,
  { reader }: CompiledRoute,
  request: RestRequest,
  params: Inputs["params"],
): (scope: Context["scope"]) => Promise<unknown> {
  if (!reader) throw hasNoTag();
  const inputs = { params, query: new URLSearchParams() };
  const variables = readVariables(reader, reader.operation!, inputs, server.lenient);
  return async (scope) => (await run(reader, server.contextOf(request, scope), variables)).body;
}

async function run(
  { operation, success }: CompiledRoute,
  context: Context,
  variables: Record<string, unknown>,
): Promise<Answer> {
  const { run, resultPath, shape } = operation!;
  const { data, errors } = await run(context, variables);
  if (errors) throw inRequest(operation!, firstByPath(errors));
  const result = resultPath.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], data);
  return { status: success, body: shape(result), disclosed: context.disclosed };
}

type Continuation = NonNullable<Context["scope"]["notes"]["continuation"]>;

/** The same request, continued after a record. */
function linkToNext(url: string, { after, page, take }: Continuation): string {
  const [path, query] = url.split("?", 2);
  const parameters = new URLSearchParams(query);
  parameters.delete("page");
  parameters.set("after", after);
  if (page > 1) {
    parameters.set("take", String(take));
    parameters.set("page", String(page));
  }
  return `<${path}?${parameters.toString()}>; rel="next"`;
}

/** The first error by path, so that the result does not depend on the order of execution. */
function firstByPath(errors: readonly GraphQLError[]): unknown {
  const [first] = errors.toSorted((a, b) => (a.path ?? []).join(".").localeCompare((b.path ?? []).join(".")));
  return first?.originalError ?? first;
}

/** Names invalid values by the fields of the body and the parameters of the path and query, instead of arguments. */
function inRequest({ variables }: Operation, error: unknown): unknown {
  if (!(error instanceof DomainError) || !error.details) return error;
  const pathOf = (path: string) => {
    const [first, ...rest] = path.split(".");
    const variable = variables.find(({ argument }) => argument.name === first);
    return variable?.from === "body" ? rest.join(".") : [variable?.name ?? first, ...rest].join(".");
  };
  return withPaths(error, pathOf);
}

/** An answer of this request, or of the first one with its Idempotency-Key. */
type Finished = Omit<Answer, "disclosed"> & { readonly disclosed: readonly unknown[] };

function send(
  res: ServerResponse,
  { status, body, disclosed }: Finished,
  scope: Context["scope"],
  tagged = false,
): Promise<void> {
  warn(res, scope.notes.warnings);
  if (disclosed.length > 0) keepUncompressed(res);
  beginJson(res, status);
  const pieces = piecesOf(JSON.stringify(body), scope);
  const [whole] = pieces; // an answer with an ETag is one piece
  if (tagged && typeof whole === "string" && setTag(res, whole)) return endUnchanged(res);
  return sendJson(res, pieces);
}
