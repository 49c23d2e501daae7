import { pipeline } from "node:stream/promises";
import type { RequestHandler } from "express";
import { currentTime } from "../clock";
import type { Crypto } from "../auth/crypto";
import type { Database } from "../database/database";
import { DomainError } from "../errors";
import { Files } from "../files/files";

/** Serves a file's content to whoever has a signed link that has not ended. */
export function downloads(database: Database, crypto: Crypto): RequestHandler {
  return async (req, res) => {
    const { organizationId = "", id = "" } = req.params as Record<string, string>;
    const { expires, signature } = req.query;
    const path = `/files/${organizationId}/${id}`;
    const signed =
      typeof expires === "string" &&
      typeof signature === "string" &&
      crypto.verify(`${path}?${expires}`, signature);
    if (!signed) throw new DomainError("FORBIDDEN", "The link is not valid. Ask for a new one.");
    if (Number(expires) * 1000 < currentTime())
      throw new DomainError("FORBIDDEN", "The link has ended. Ask for a new one.");
    const { file, content } = await database.scope(organizationId).of(Files).content(id);
    // Not Express's own, which would say of any text that it is UTF-8.
    res.writeHead(200, {
      "Content-Type": file.mimeType,
      "Content-Length": String(file.size),
      // An HTML page or a script would otherwise run under this service's own address.
      "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
      "Cache-Control": "private, no-store",
    });
    await pipeline(content, res).catch(() => res.destroy());
  };
}
