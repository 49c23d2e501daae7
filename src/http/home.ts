import type { RequestHandler } from "express";

const PATHS = {
  graphql: "/graphql",
  widget: "/widget/demo",
  rest: "/rest/v1",
  documentation: "/rest/docs",
  openapi: "/rest/openapi.json",
  health: "/health/ready",
};

/** `GET /`: redirects browsers to the playground; other clients get the main paths. */
export const home: RequestHandler = (req, res) =>
  req.accepts(["json", "html"]) === "html" ? res.redirect("/graphql") : void res.json(PATHS);
