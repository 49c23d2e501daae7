/** A JSON object of unknown content. */
export type JsonObject = Record<string, unknown>;
