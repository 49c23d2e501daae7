import type { RequestHandler } from "express";
import { getOperationAST } from "graphql";
import { coerce, type Engine } from "../../rest-compat/run";
import type { RestServer } from "../../rest-compat/server";
import { authorize } from "../../schema/core/authorization";
import { makeContext, type Context } from "../../schema/core/context";
import { waitsFor } from "../../schema/core/waits";
import { Idempotency } from "../account/organization/idempotency";
import { requestId } from "../http/answers/answer-headers";
import type { Callers } from "../http/callers/callers";
import type { EventStreams } from "../http/streams/event-streams";
import { errorFormatter } from "../http/errors/error-formatter";
import { apolloServer } from "../http/graphql/graphql";
import { graphqlHandler, isForm } from "../http/graphql/graphql-handler";
import { idempotencyKey, storedKey } from "../http/idempotency-key";
import type { PersistedOperations } from "../http/graphql/persisted-operations";
import type { Repeatable } from "../http/graphql/repeatable-mutations";
import type { SendError } from "../http/errors/send-error";
import type { Service } from "./open-service";

/** Parts of the server that both interfaces use. */
export interface Serving {
  readonly callers: Callers;
  readonly limited: RestServer["limited"];
  readonly largeLimited: RestServer["largeLimited"];
  readonly sendError: SendError;
  readonly isDraining: () => boolean;
}

/** GraphQL over HTTP: Apollo runs documents compiled by REST's engine. */
export async function graphqlOf(
  service: Service,
  engine: Engine,
  {
    callers,
    limited,
    largeLimited,
    sendError,
    isDraining,
    persisted,
    streams,
  }: Serving & { readonly persisted?: PersistedOperations | undefined; readonly streams: EventStreams },
): Promise<RequestHandler> {
  const { config, database } = service;
  const apollo = runnerOf(service, engine, { largeLimited, isDraining });
  await apollo.start();
  return graphqlHandler({
    apollo,
    authenticate: async (req, res) => {
      const caller = await callers.authenticate(req, res);
      if (isForm(req)) authorize("key", caller); // only uploads need forms, whose files are stored before they run
      return (more) =>
        makeContext(database, caller, {
          ...more,
          requestId: requestId(res),
          address: callers.addressOf(req),
          idempotencyKey: idempotencyKey(req),
          ...callers.visit(req, res, caller),
        });
    },
    stream: (req, res, newContext, payload) => streams.answer(req, res, newContext, payload),
    ownerOf,
    limited,
    persisted,
    disclosesSecret: ({ disclosed }) => disclosed.length > 0,
    maxFileBytes: config.MAX_FILE_BYTES,
    sendError,
  });
}

const ownerOf = ({ scope }: Context) => scope;

/** Apollo with the documents of REST's engine. */
const runnerOf = (
  { config, logger }: Service,
  engine: Engine,
  { largeLimited, isDraining }: Pick<Serving, "largeLimited" | "isDraining">,
) =>
  apolloServer<Context>({
    schema: engine.schema,
    introspection: config.GRAPHQL_INTROSPECTION,
    compile: (document) => {
      const operation = getOperationAST(document)!; // the document has one
      return {
        coerce: (values) => coerce(engine.schema, operation, values),
        run: engine.compile(document),
      };
    },
    waits: waitsFor,
    largeLimited,
    ownerOf,
    warnings: ({ scope }) => scope.notes.warnings,
    warn: ({ scope }, text) => scope.warn(text),
    repeatable: repeatableBy(isDraining),
    format: errorFormatter(logger),
  });

/** The services for mutations with an Idempotency-Key. Each result is stored by a scope of its own, with its warnings. */
const repeatableBy =
  (isDraining: () => boolean) =>
  (context: Context): Repeatable<Context> | undefined => {
    const { caller, source, idempotencyKey: key } = context;
    // Results belong to an organization. Without a credential, mutations are refused, which can be repeated.
    if (key === undefined || !caller) return undefined;
    return {
      keyOf: (field) => storedKey(caller, key, field),
      once: async (request, work) => {
        const own = context.fresh();
        const answer = await own.of(Idempotency).once(
          request,
          async (scope, attemptId) => {
            const inside: Context = { ...context, scope, attemptId, disclosed: [] };
            return { status: 200, body: await work(inside), disclosed: inside.disclosed };
          },
          { caller, source, isDraining },
        );
        for (const text of own.notes.warnings) context.scope.warn(text);
        context.disclosed.push(...answer.disclosed);
        return { result: answer.body as never, replayed: answer.replayed };
      },
    };
  };
