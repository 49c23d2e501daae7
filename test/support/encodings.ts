import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { RawAnswer } from "./raw";

/** Values of Accept-Encoding with the encoding that the service chooses for a long text; undefined for none. */
export const ACCEPTED: readonly (readonly [accepted: string | undefined, chosen: string | undefined])[] = [
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip, deflate", "gzip"],
  ["br;q=0.1, gzip", "gzip"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["gzip;q=0, br;q=0", undefined],
  ["gzip;q=0.5, identity", undefined],
  ["*", "br"],
  ["*;q=0, identity", undefined],
];

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  deflate: inflateSync,
  identity: (bytes) => bytes,
};

/** The content of an answer. */
export const decoded = ({ headers, bytes }: RawAnswer): Buffer =>
  DECODERS[headers["content-encoding"] ?? "identity"]!(bytes);

export const accepting = (encodings: string | undefined): Record<string, string> =>
  encodings === undefined ? {} : { "Accept-Encoding": encodings };
