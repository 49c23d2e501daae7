import { Router } from "express";
import { DomainError, quoted } from "../../platform/errors";

/** Serves the JSON Schemas of files with records. @param schemas by the kind of the record */
export function fileSchemaPages(
  schemas: () => Readonly<Record<string, object>>,
  publicUrl: () => string,
): Router {
  const router = Router();
  router.get("/schemas/:name", ({ params: { name } }, res) => {
    const all = schemas();
    const kind = /^(.+)\.json$/.exec(name)?.[1] ?? "";
    if (!Object.hasOwn(all, kind))
      throw new DomainError(
        "NOT_FOUND",
        `There is no schema ${quoted(name)}. Files have ${Object.keys(all)
          .map((one) => `/schemas/${one}.json`)
          .join(", ")}.`,
      );
    const document = { $id: `${publicUrl()}/schemas/${kind}.json`, ...all[kind] };
    res.type("application/schema+json").send(JSON.stringify(document));
  });
  return router;
}
