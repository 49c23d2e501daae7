import type { JsonObject } from "../json/json-object";

/** Address of a server of tools (Model Context Protocol, Streamable HTTP), and the headers of every request to it. */
export interface ToolServerAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema object. */
  readonly parameters: JsonObject;
}

export interface ToolCall {
  /** The server's own name of the tool. */
  readonly name: string;
  readonly arguments: unknown;
  /** Headers of this call. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A tool's answer. */
export interface ToolAnswer {
  /** Text for the model: the answer, or why there is none. */
  readonly text: string;
  readonly failed: boolean;
}

/** A server of tools could not be used. The message is a sentence that customers may see. */
export class ToolServerFailure extends Error {}

/** Lists and calls the tools of servers that customers chose. */
export interface ToolClient {
  /**
   * The tools of a server, or those that it listed at most `maxAgeMs` ago. A failure is remembered for a minute, so that
   * a server that is away delays few answers, unless `maxAgeMs` is 0.
   * @throws ToolServerFailure after 5 seconds at most
   */
  list(server: ToolServerAddress, maxAgeMs: number): Promise<readonly ListedTool[]>;
  /** Calls a tool, for 20 seconds at most. Never throws because of the server. */
  call(server: ToolServerAddress, call: ToolCall): Promise<ToolAnswer>;
}
