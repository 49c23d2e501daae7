import type { ApolloServer, BaseContext } from "@apollo/server";
import { expressMiddleware } from "@as-integrations/express5";
import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import graphqlUploadExpress from "graphql-upload/graphqlUploadExpress.mjs";
import { DomainError, invalid } from "../errors";
import { MOST_QUERY_BYTES } from "./graphql-limits";

export interface GraphQLRouterOptions<Context extends BaseContext> {
  readonly apollo: ApolloServer<Context>;
  /** @throws UNAUTHENTICATED, RATE_LIMITED */
  readonly context: (req: Request, res: Response) => Promise<Context>;
  readonly maxFileBytes: number;
}

const JSON_BYTES = 8 * 1024 * 1024;

/** POST and GET /graphql: what a request brings along, read and limited, then Apollo. */
export function graphqlRouter<Context extends BaseContext>({
  apollo,
  context,
  maxFileBytes,
}: GraphQLRouterOptions<Context>): Router {
  const router = express.Router();
  router.use(methods);
  // A credential that is not valid is refused before a body is read.
  router.use(async (req, res, next) => {
    res.locals.context = await context(req, res);
    next();
  });
  router.use(declaredLength(maxFileBytes));
  router.use(express.json({ limit: JSON_BYTES }));
  router.use(graphqlUploadExpress({ maxFileSize: maxFileBytes + 1, maxFiles: 1, maxFieldSize: JSON_BYTES }));
  router.use(shortQuery, sentAsText);
  router.use(
    expressMiddleware(apollo, {
      context: ({ res }) => Promise.resolve(res.locals.context as Context),
    }),
  );
  return router;
}

const methods: RequestHandler = (req, res, next) => {
  res.setHeader("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  if (req.method === "OPTIONS") return void res.setHeader("Allow", "GET, POST, OPTIONS").status(204).end();
  next();
};

/** Refuses by Content-Length, where the parsers would first read everything away. */
const declaredLength =
  (maxFileBytes: number): RequestHandler =>
  (req, _res, next) => {
    const most = JSON_BYTES + (req.is("multipart/form-data") ? maxFileBytes : 0);
    if (Number(req.headers["content-length"] ?? 0) > most)
      throw new DomainError("PAYLOAD_TOO_LARGE", "The body is too large.");
    next();
  };

const shortQuery: RequestHandler = (req, _res, next) => {
  const { query } = (req.body ?? {}) as { query?: unknown };
  if (typeof query === "string" && Buffer.byteLength(query) > MOST_QUERY_BYTES)
    throw invalid([{ path: "query", message: "must be at most 64 KiB" }]);
  req.body ??= {};
  next();
};

/** Express would copy a large answer once more to count its bytes. */
const sentAsText: RequestHandler = (_req, res, next) => {
  res.send = (text: string) => {
    res.setHeader("Content-Length", Buffer.byteLength(text));
    return res.end(text);
  };
  next();
};
