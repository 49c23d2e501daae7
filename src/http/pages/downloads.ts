import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Router, type RequestHandler } from "express";
import { currentTime } from "../../platform/clock";
import type { Crypto } from "../../platform/crypto";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { EndUserExports } from "../../privacy/exports/exports";
import { Files } from "../../assistants/files/files";
import { parameterOf } from "./query";

/** Kinds of downloads, by the first segment of their path. */
const KINDS = {
  files: (scope: Scope, id: string): Promise<Download> => scope.of(Files).content(id),
  exports: (scope: Scope, id: string): Promise<Download> => scope.of(EndUserExports).content(id),
};

interface Download {
  readonly file: { readonly name: string; readonly mimeType: string; readonly size: number };
  readonly content: Readable;
}

/** Serves the content of a file or an export to anyone with a signed link that has not expired. */
export function downloads(database: Database, crypto: Crypto): Router {
  const router = Router();
  for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[])
    router.get(`/${kind}/:organizationId/:id`, download(database, crypto, kind));
  return router;
}

function download(database: Database, crypto: Crypto, kind: keyof typeof KINDS): RequestHandler {
  return async (req, res) => {
    const { organizationId = "", id = "" } = req.params as Record<string, string>;
    const [expires, signature] = [parameterOf(req, "expires"), parameterOf(req, "signature")];
    const path = `/${kind}/${organizationId}/${encodeURIComponent(id)}`;
    const signed =
      expires !== undefined && signature !== undefined && crypto.verify(`${path}?${expires}`, signature);
    if (!signed) throw new DomainError("FORBIDDEN", "This link is not valid. Request a new one.");
    if (Number(expires) * 1000 < currentTime())
      throw new DomainError("FORBIDDEN", "This link has expired. Request a new one.");
    const { file, content } = await KINDS[kind](database.scope(organizationId), id);
    // Set without Express, which would add `charset=utf-8` to any text type.
    res.writeHead(200, {
      "Content-Type": file.mimeType,
      "Content-Length": String(file.size),
      // Served as an attachment: an HTML page or a script would otherwise run on this service's origin.
      "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
      "Cache-Control": "private, no-store",
    });
    res.flushHeaders(); // a client sees then that the content breaks off, and not the server
    await pipeline(content, exactly(file.size), res).catch(() => res.destroy());
  };
}

/**
 * Fails if the content has another size than its record. Too few bytes would keep the client waiting, and more would
 * look like the next response on the connection.
 */
const exactly = (size: number) =>
  async function* (content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let left = size;
    let held: Buffer | undefined; // so that a client gets the last one only if nothing follows
    for await (const chunk of content) {
      left -= chunk.length;
      if (left < 0) throw new Error("The stored content is longer than its record says.");
      if (held) yield held;
      held = chunk;
    }
    if (left > 0) throw new Error("The stored content is shorter than its record says.");
    if (held) yield held;
  };
