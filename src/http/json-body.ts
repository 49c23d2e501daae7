import type { IncomingMessage, ServerResponse } from "node:http";
import express from "express";
import { markSources } from "../platform/json/json-source";
import { MAX_JSON_BYTES } from "./errors/parser-errors";
import { UnfinishedBodies } from "./unfinished-bodies";

const utf8 = new TextDecoder();
/** Source text of bodies that may contain functions, whose JSON is stored verbatim. */
const texts = new WeakMap<IncomingMessage, string>();
const readJson = express.json({
  limit: MAX_JSON_BYTES,
  verify: (req, _res, bytes, encoding) => {
    if (encoding === "utf-8" && bytes.includes("functions")) texts.set(req, utf8.decode(bytes));
  },
});

/** Reads a JSON body; an empty object if there is none. @throws PAYLOAD_TOO_LARGE and errors of the parser */
export function readJsonBody(req: IncomingMessage, res: ServerResponse): Promise<unknown> {
  const release = UnfinishedBodies.add(req, MAX_JSON_BYTES);
  return new Promise((resolve, reject) =>
    readJson(req, res, (error?: unknown) => {
      release();
      if (error) return reject(error as Error);
      const { body = {} } = req as { body?: unknown };
      markSources(texts.get(req) ?? "", body);
      resolve(body);
    }),
  );
}
