import { createServer, ServerResponse, type Server } from "node:http";
import express, { type Express } from "express";
import { mergingRequest } from "../merging-request";
import { ignoreOffers } from "./ignore-offers";

export interface ExpressServer {
  /** Handles the server's requests. */
  readonly app: Express;
  readonly server: Server;
}

/**
 * Creates an Express app and its server, whose requests and responses have Express's prototypes from the start. By
 * default Express replaces the prototype of both on each request, which slows down all later property access.
 */
export function expressServer(): ExpressServer {
  const app = express();
  const AppRequest = mergingRequest();
  ignoreOffers(AppRequest.prototype);
  class AppResponse extends ServerResponse {}
  app.request = withPrototype(AppRequest.prototype, app.request);
  app.response = withPrototype(AppResponse.prototype, app.response);
  const server = createServer({
    IncomingMessage: AppRequest,
    ServerResponse: AppResponse,
    requireHostHeader: false, // Node would answer 400 with an empty body
  });
  return { app, server };
}

const withPrototype = <T extends object>(object: object, prototype: T): T =>
  Object.setPrototypeOf(object, prototype) as T;
