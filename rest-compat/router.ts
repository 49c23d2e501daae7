import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { admit } from "../schema/core/access";
import type { Context, ContextOptions } from "../schema/core/context";
import type { Caller } from "../src/account/auth/caller";
import { DomainError, invalid, publicError } from "../src/platform/errors";
import { answerInPieces, piecesOf, type Piece } from "../src/platform/json/json-source";
import { readFields, readJson } from "./body";
import { callerFor } from "./caller-for";
import type { CompiledRoute } from "./compile";
import { errorBody, firstByPath, STATUS, type ErrorBody } from "./errors";
import { decoded, RouteTable } from "./match";
import { readForm, type Form } from "./upload";
import { readVariables } from "./variables";

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly disclosed: Context["disclosed"];
}
type Work = (scope: Context["scope"]) => Promise<Answer>;

/** A request that carries an Idempotency-Key. */
interface Repeatable {
  readonly key: string;
  /** Everything that makes it the same request. */
  readonly content: unknown;
  /** Its work waits for HTTP. */
  readonly waits: boolean;
}

/** What the REST face needs of the house. */
export interface House {
  /** The caller of a request, rate limits applied. @throws UNAUTHENTICATED, RATE_LIMITED */
  readonly authenticate: (
    req: IncomingMessage,
    res: ServerResponse,
    headers?: Readonly<Record<string, unknown>>,
  ) => Promise<Caller | undefined>;
  /** Who a request without credential on the settings paths stands for. @throws UNAUTHENTICATED, FORBIDDEN */
  readonly anonymousSettings: (req: IncomingMessage) => Promise<Caller>;
  /** The page that asks, and the limits of visitors, for rows that pages call. */
  readonly visit: (
    req: IncomingMessage,
    res: ServerResponse,
    caller: Caller | undefined,
  ) => Required<Pick<ContextOptions, "spend">> & Pick<Context, "origin">;
  /** Address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly makeContext: (caller: Caller | undefined, options: ContextOptions) => Context;
  /** Does work once for a key; the secrets in an answer that is repeated are disclosed again. */
  readonly once: (
    context: Context,
    request: Repeatable,
    work: Work,
  ) => Promise<Omit<Answer, "disclosed"> & { replayed: boolean }>;
  readonly log: (error: unknown, requestId: string) => void;
  readonly requestId: (res: ServerResponse) => string;
  /** Ends an answer with its JSON. */
  readonly sendJson: (res: ServerResponse, pieces: readonly [Piece, ...Piece[]]) => Promise<void>;
  /** What answers a row with `stream`, by that name. */
  readonly streams: Readonly<
    Record<string, (req: IncomingMessage, res: ServerResponse, body: unknown) => Promise<void>>
  >;
  /** A form in which each file declares its type. */
  readonly form: (req: IncomingMessage) => Readable;
  readonly maxFileBytes: number;
  readonly lenient: boolean;
}

/** Answers a request, or leaves it to `next`. */
type Handler = (req: IncomingMessage, res: ServerResponse, next: () => void) => Promise<void>;

/**
 * Serves the rows, and leaves other paths to what comes next. It stands on Node's own server: what Express does to
 * every request would take a third of the speed.
 */
export function restRouter(house: House, routes: readonly CompiledRoute[]): Handler {
  const table = new RouteTable(routes);
  for (const { id, stream } of routes)
    if (stream !== undefined && !house.streams[stream])
      throw new Error(`The REST row ${id} names the stream ${stream}, which nothing serves.`);
  return async (req, res, next) => {
    const path = req.url!.split("?", 1)[0]!;
    let route: CompiledRoute | undefined;
    try {
      const found = table.find(req.method!, path);
      if (!found) return next();
      if ("allowed" in found) return refuseMethod(house, req, res, found.allowed);
      route = found.route;
      await handle(house, found.route, found.params, req, res);
    } catch (error) {
      sendError(house, res, error, route && { route });
    }
  };
}

async function handle(
  house: House,
  route: CompiledRoute,
  params: Readonly<Record<string, string>>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (route.stream) {
    const read = route.body === "form" ? readFields : readJson;
    return house.streams[route.stream]!(req, res, await read(req, res, route.bodyLimit));
  }
  if (route.operation) res.setHeader("GraphQL-Operation", route.operation.name);
  const caller = await callerFor(house, route.auth, req, res);
  if (!route.operation)
    throw new DomainError("NOT_IMPLEMENTED", `${route.summary}: this server does not do that yet.`);
  admit(route.operation.access, caller); // before anything of the request is read
  const form = route.body === "multipart" ? await readForm(req, house) : undefined;
  try {
    const body = route.operation.input ? await readJson(req, res) : undefined;
    const query = queryOf(req.url!);
    const variables = readVariables(
      route,
      route.operation,
      { params, query, body, ...(form && { form: form.values }) },
      house.lenient,
    );
    await answer(house, route, caller, variables, form, req, res);
  } finally {
    form?.release();
  }
}

/** @throws BAD_USER_INPUT for what is no UTF-8, which would be read as other text */
function queryOf(url: string): URLSearchParams {
  const query = url.split("?").slice(1).join("?");
  for (const part of query.includes("%") ? query.split("&") : []) {
    const [name = ""] = new URLSearchParams(part).keys();
    decoded(name, part);
  }
  return new URLSearchParams(query);
}

async function answer(
  house: House,
  route: CompiledRoute,
  caller: Caller | undefined,
  variables: Record<string, unknown>,
  form: Form | undefined,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const options = {
    requestId: house.requestId(res),
    interface: "REST",
    address: house.addressOf(req),
    ...(route.auth === "public" && house.visit(req, res, caller)),
  } as const;
  const context = house.makeContext(caller, options);
  const work: Work = (scope) => run(route, house.makeContext(caller, { ...options, scope }), variables);
  const key = route.method === "post" ? idempotencyKey(req) : undefined;
  if (key === undefined) {
    answerInPieces(context.scope);
    return send(house, res, await work(context.scope), context.scope);
  }
  const content = [route.id, req.url!, form?.identity ?? variables];
  // Who asks is part of the key: an answer may hold what another kind of caller is not shown.
  const owned = JSON.stringify([
    caller?.kind,
    caller?.userId,
    key,
    ...(caller?.limits ? [caller.keyId] : []),
  ]);
  const request = { key: owned, content, waits: route.waits === true };
  const { replayed, ...kept } = await house.once(context, request, work);
  if (replayed) res.setHeader("Idempotency-Replayed", "true");
  await send(house, res, kept, context.scope);
}

async function run(
  { operation, success }: CompiledRoute,
  context: Context,
  variables: Record<string, unknown>,
): Promise<Answer> {
  const { run, resultPath, shape } = operation!;
  const { data, errors } = await run(context, variables);
  if (errors) throw firstByPath(errors);
  const result = resultPath.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], data);
  return { status: success, body: shape(result), disclosed: context.disclosed };
}

function send(
  { sendJson }: House,
  res: ServerResponse,
  { status, body }: Pick<Answer, "status" | "body">,
  scope: Context["scope"],
): Promise<void> {
  const warnings = scope.warnings.map((warning) => `299 parley "${warning}"`);
  if (warnings.length > 0) res.setHeader("Warning", warnings);
  begin(res, status);
  return sendJson(res, piecesOf(JSON.stringify(body), scope));
}

function begin(res: ServerResponse, status: number): void {
  res.statusCode = status;
  res.setHeader("Content-Type", "application/json; charset=utf-8");
}

function idempotencyKey(req: IncomingMessage): string | undefined {
  const { "idempotency-key": key } = req.headers;
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !/^[\x20-\x7e]{1,255}$/.test(key))
    throw invalid([{ path: "Idempotency-Key", message: "must be 1 to 255 printable ASCII characters" }]);
  return key;
}

/** A browser's question what it may send gets an answer; any other method that the path does not have gets a 405. */
export function refuseMethod(
  house: Pick<House, "log" | "requestId">,
  req: IncomingMessage,
  res: ServerResponse,
  methods: readonly string[],
): void {
  const allow = [...methods, ...(methods.includes("get") ? ["head"] : []), "options"]
    .join(", ")
    .toUpperCase();
  res.setHeader("Allow", allow);
  if (req.method !== "OPTIONS")
    return sendError(house, res, new DomainError("METHOD_NOT_ALLOWED", `This path takes ${allow} only.`));
  res.setHeader("Access-Control-Allow-Methods", allow);
  res.setHeader("Access-Control-Max-Age", "86400");
  res.statusCode = 204;
  res.end();
}

/** Answers any error as JSON; what is nobody's business is logged instead of shown. */
export function sendError(
  house: Pick<House, "log" | "requestId">,
  res: ServerResponse,
  error: unknown,
  { route, shape = (body) => body }: { route?: CompiledRoute; shape?: (body: ErrorBody) => unknown } = {},
): void {
  const requestId = house.requestId(res);
  const shown = publicError(error);
  const status = route?.errors?.[shown.code] ?? STATUS[shown.code];
  if (status >= 500 || res.headersSent) house.log(error, requestId); // the client cannot be told of it any more
  if (res.headersSent) return void res.destroy();
  if (status === 503) res.setHeader("Retry-After", "2");
  if (status === 401) res.setHeader("WWW-Authenticate", 'Bearer realm="parley"');
  begin(res, status);
  const text = JSON.stringify(shape(errorBody(shown, status, requestId)));
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}
