import { constants } from "node:zlib";
import compression from "compression";

/** Smaller responses fit into one packet anyway. */
const MIN_BYTES = 1024;
/** Levels that cost little time; higher ones save about a tenth of the bytes. */
const GZIP_LEVEL = 1;
const BROTLI_QUALITY = 2;

/**
 * Compresses responses that are made for each request, if the client accepts it. It leaves alone what the build has
 * compressed, streams of events, which must arrive at once, and downloads, whose length tells their progress.
 */
export const compress = compression({
  threshold: MIN_BYTES,
  level: GZIP_LEVEL,
  brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
  filter: (request, response) =>
    compression.filter(request, response) &&
    !String(response.getHeader("Content-Type")).startsWith("text/event-stream") &&
    !response.hasHeader("Content-Disposition"),
});
