import { Router } from "express";
import { asyncApi } from "../../events/schemas/async-api";
import { schemaDocument } from "../../events/schemas/payloads";
import { DomainError, quoted } from "../../platform/errors";

/** Serves the AsyncAPI document of events, and the JSON Schema of each payload. @param publicUrl address of the service */
export function eventDocuments(publicUrl: () => string): Router {
  const router = Router();
  router.get("/events/asyncapi.json", (_req, res) => void res.json(asyncApi(publicUrl())));
  router.get("/events/schemas/:name/:version", ({ params: { name, version } }, res) => {
    const document = schemaDocument(name, version, publicUrl());
    if (!document)
      throw new DomainError(
        "NOT_FOUND",
        `No event has the schema ${quoted(`${name}/${version}`)}. /events/asyncapi.json lists all events.`,
      );
    res.type("application/schema+json").send(JSON.stringify(document));
  });
  return router;
}
