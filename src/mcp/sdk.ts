import type * as Server from "@modelcontextprotocol/sdk/server/index.js";
import type * as Http from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type * as Types from "@modelcontextprotocol/sdk/types.js";
import { load } from "../platform/providers/load";

/** The SDK, loaded at the first request of an agent: it takes 140 ms and 31 MB. */
export const sdk = () => ({
  ...load<typeof Types>("@modelcontextprotocol/sdk/types.js"),
  ...load<typeof Server>("@modelcontextprotocol/sdk/server/index.js"),
  ...load<typeof Http>("@modelcontextprotocol/sdk/server/streamableHttp.js"),
});
