import { encoded } from "../../platform/database/values/encoded";
import type { ToolServer } from "../../platform/database/tables/value-types";
import type { Scope } from "../../platform/database/scope";
import { invalid, type Problem } from "../../platform/errors";
import type { ToolServerAddress } from "../../platform/ports/tool-client";
import { Templates } from "../configurations/templates";

export type { ToolServer };

export interface ToolServerInput {
  readonly name: string;
  readonly url: string;
  /** Undefined or null: those of the server of the same name and origin stay. */
  readonly headers?: Readonly<Record<string, unknown>> | null;
  readonly allowedTools?: readonly string[] | null;
}

/** An assistant with its servers. */
export interface Owner {
  readonly id: string;
  readonly toolServers: readonly ToolServer[] | null;
}

/** The headers of an assistant's servers, by the servers' names. */
type Headers = Readonly<Record<string, Readonly<Record<string, string>>>>;

const SERVER_NAME = /^[A-Za-z0-9_-]+$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\x20-\x7e]{1,4096}$/;
const MOST_HEADERS = 16;
/** Headers of the protocol, of the connection, and of every call. */
const RESERVED =
  /^(host|connection|content-.*|transfer-encoding|upgrade|te|trailer|accept|mcp-.*|last-event-id|parley-.*|idempotency-key|user-agent|traceparent|tracestate)$/i;

/** The MCP servers whose tools an assistant may call. */
export class ToolServers {
  constructor(private readonly scope: Scope) {}

  /**
   * Replaces the servers of an assistant. Headers that are left out stay, unless the server's address has another origin:
   * a secret goes only where it was meant for.
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, BAD_USER_INPUT
   */
  async set(assistantId: string, servers: readonly ToolServerInput[]): Promise<void> {
    const problems = servers.flatMap((server, index) => this.problemsOf(server, index, servers));
    if (problems.length > 0) throw invalid(problems);
    await this.scope.transaction(async (scope) => {
      const rows = scope.table("assistants").where({ id: assistantId }).whereNull("deletedAt");
      const [row] = await rows.clone().select("toolServers", "sealedToolHeaders").forUpdate();
      if (!row) return void (await scope.of(Templates).rejectWrite(assistantId));
      const former = scope.of(ToolServers).opened(assistantId, row.sealedToolHeaders);
      const headers = Object.fromEntries(
        servers.map((server) => [server.name, headersOf(server, row.toolServers ?? [], former)]),
      );
      const stored: ToolServer[] = servers.map(({ name, url, allowedTools = null }) => ({
        ...{ name, url, allowedTools },
        headerNames: Object.keys(headers[name]!),
      }));
      for (const { name, headerNames } of row.toolServers ?? [])
        if (headerNames.length > 0 && !servers.some((one) => one.name === name && keeps(one, headers)))
          this.scope.warn(droppedHeaders(name));
      const toolServers = stored.length === 0 ? null : stored;
      const sealedToolHeaders = scope.of(ToolServers).sealed(assistantId, headers);
      await rows.update(encoded({ toolServers, sealedToolHeaders }));
    });
  }

  /** Copies the headers of one assistant to another, which has the same servers. @param sealed as they are stored */
  async copyHeaders(from: string, sealed: string | null, to: string): Promise<void> {
    if (sealed === null) return;
    const sealedToolHeaders = this.sealed(to, this.opened(from, sealed));
    await this.scope.table("assistants").where({ id: to }).update({ sealedToolHeaders });
  }

  /** The servers that an assistant has now, with the headers to reach them. */
  async addresses({ id, toolServers }: Owner): Promise<(ToolServer & ToolServerAddress)[]> {
    if (!toolServers) return [];
    // Both at once: after a change, the new headers must not go to the former address.
    const rows = this.scope.table("assistants").where({ id });
    const [row] = await rows.select("toolServers", "sealedToolHeaders");
    const headers = this.opened(id, row?.sealedToolHeaders ?? null);
    return (row?.toolServers ?? []).map((server) => ({ ...server, headers: headers[server.name] ?? {} }));
  }

  private problemsOf(
    { name, url, headers }: ToolServerInput,
    index: number,
    servers: readonly ToolServerInput[],
  ): Problem[] {
    const at = (field: string, message: string) => ({ path: `servers.${index}.${field}`, message });
    const address = this.scope.ports.outbound.problemWith(url);
    const isDouble = servers.findIndex((one) => one.name === name) < index;
    const names = Object.keys(headers ?? {});
    return [
      ...(SERVER_NAME.test(name) ? [] : [at("name", "must consist of letters, digits, _ and -")]),
      ...(isDouble ? [at("name", "must differ from the names of the other servers")] : []),
      ...(address === undefined ? [] : [at("url", address)]),
      ...(names.length > MOST_HEADERS
        ? [at("headers", `must have at most ${MOST_HEADERS} headers; got ${names.length}`)]
        : []),
      ...names
        .filter((one, place) => names.findIndex((other) => other.toLowerCase() === one.toLowerCase()) < place)
        .map((one) => at(`headers.${one}`, "must differ from the names of the other headers")),
      ...Object.entries(headers ?? {}).flatMap(([header, value]) => {
        const message = problemOfHeader(header, value);
        return message === undefined ? [] : [at(`headers.${header}`, message)];
      }),
    ];
  }

  private opened(assistantId: string, sealed: string | null): Headers {
    return sealed === null
      ? {}
      : (JSON.parse(this.scope.ports.crypto.open(sealed, this.context(assistantId))) as Headers); // as `sealed` wrote it
  }

  private sealed(assistantId: string, headers: Headers): string | null {
    const some = Object.entries(headers).filter(([, values]) => Object.keys(values).length > 0);
    if (some.length === 0) return null;
    return this.scope.ports.crypto.seal(JSON.stringify(Object.fromEntries(some)), this.context(assistantId));
  }

  private context(assistantId: string): string {
    return `${this.scope.organizationId}/assistants/${assistantId}`;
  }
}

/** Whether a server has headers, or was sent without on purpose. */
const keeps = ({ name, headers }: ToolServerInput, kept: Headers): boolean =>
  headers != null || Object.keys(kept[name] ?? {}).length > 0;

const droppedHeaders = (name: string): string =>
  `The headers of the tool server ${name} were removed: headers that are left out stay only for a server of the same name and origin.`;

function headersOf(
  { name, url, headers }: ToolServerInput,
  former: readonly ToolServer[],
  values: Headers,
): Readonly<Record<string, string>> {
  if (headers != null) return headers as Record<string, string>; // checked before
  const same = former.find((one) => one.name === name && new URL(one.url).origin === new URL(url).origin);
  return (same && values[name]) ?? {};
}

function problemOfHeader(name: string, value: unknown): string | undefined {
  if (!HEADER_NAME.test(name)) return "has a name that no HTTP header can have";
  if (RESERVED.test(name)) return "is set by the service";
  return typeof value === "string" && HEADER_VALUE.test(value)
    ? undefined
    : "must be 1 to 4,096 printable ASCII characters";
}
