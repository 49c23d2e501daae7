import { createServer, IncomingMessage, ServerResponse, type Server } from "node:http";
import express, { type Express } from "express";

export interface ExpressServer {
  /** Answers the requests of the server. */
  readonly app: Express;
  readonly server: Server;
}

/**
 * An Express app and the server for it, whose requests and responses are Express's from the start. By default Express
 * changes the prototype of both for each request, which makes all later access to them slow.
 */
export function expressServer(): ExpressServer {
  const app = express();
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  app.request = withPrototype(AppRequest.prototype, app.request);
  app.response = withPrototype(AppResponse.prototype, app.response);
  const server = createServer({
    IncomingMessage: AppRequest,
    ServerResponse: AppResponse,
    requireHostHeader: false, // Node would refuse with an empty body
  });
  return { app, server };
}

const withPrototype = <T extends object>(object: object, prototype: T): T =>
  Object.setPrototypeOf(object, prototype) as T;
