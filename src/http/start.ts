import type { RequestHandler } from "express";

const PLACES = {
  graphql: "/graphql",
  widget: "/widget/demo",
  rest: "/rest/v1",
  documentation: "/rest/docs",
  openapi: "/rest/openapi.json",
  health: "/health/ready",
};

/** `GET /`: people are led to the playground, programs are told the places. */
export const start: RequestHandler = (req, res) =>
  req.accepts(["json", "html"]) === "html" ? res.redirect("/graphql") : void res.json(PLACES);
