import { randomUUID } from "node:crypto";
import {
  DeniedError,
  Http,
  ImportStoppedError,
  redirectIn,
  RefusedError,
  type HttpOptions,
} from "../import/http";
import { DENIED, resultOf, transientIn, withoutAdvice } from "../import/target";
import type { Fields } from "./kinds";
import type { Schemas } from "./check";

interface Detail {
  readonly path: string;
  readonly message: string;
  /** Place in the file of the part that the path is in. */
  readonly at?: readonly (string | number)[];
}

/** An error of the server about a refused request. */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly code: string,
    /** Invalid values, by their paths in the variables. */
    readonly details: readonly Detail[] = [],
    /** Place in the file of what was sent, if that is a part of it. */
    readonly at: readonly (string | number)[] = [],
  ) {
    super(message);
    this.name = "RequestError";
  }

  /** Whether the server has answered, and has changed nothing. */
  get isRefusal(): boolean {
    return !["NETWORK", "INTERNAL", "INVALID_RESPONSE"].includes(this.code);
  }
}

/** Runs requests about a part of a file. @throws RequestError with its place */
export async function about<T>(at: RequestError["at"], request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new RequestError(error.message, error.code, error.details, at);
  }
}

const NAME = "The server";
/** A mutation without an effect, as there is no such record. */
const PROBE = 'mutation { updateDeployment(id: "none", input: {}) { id } }';

/** A server, with the SECRET key of an organization. Requests wait while it is away. */
export class Connection {
  private warnings: string[] = [];
  private readonly http: Http;
  /** For links and schemas, which must not get the key. */
  private readonly open: Http;

  /**
   * @param url without a slash at its end
   * @param advice which key the command needs
   */
  constructor(
    readonly url: string,
    key: string,
    waiting: Pick<HttpOptions, "patienceMs" | "say">,
    private readonly advice = "",
  ) {
    this.http = new Http({ name: NAME, headers: { "X-API-Key": key }, ...waiting });
    this.open = new Http({ name: NAME, headers: {}, ...waiting });
  }

  /** @throws DeniedError if the key may read, but not change records */
  async checkThatKeyMayChange(): Promise<void> {
    await this.graphql(PROBE).catch((error: unknown) => {
      if (!(error instanceof RequestError && error.isRefusal)) throw error;
    });
  }

  /** Runs a query or mutation. A mutation that is repeated takes effect once. @throws RequestError, DeniedError */
  graphql<T>(query: string, variables: Fields = {}): Promise<T> {
    const body = JSON.stringify({ query, variables });
    return this.run<T>(query, body, { "Content-Type": "application/json" });
  }

  /** The warnings of answers since the last call. */
  takeWarnings(): string[] {
    const taken = this.warnings;
    this.warnings = [];
    return taken;
  }

  /** Uploads a file. @returns its id. @throws RequestError */
  async upload(name: string, content: Uint8Array<ArrayBuffer>, metadata: Fields): Promise<string> {
    const query =
      "mutation ($file: Upload!, $metadata: JSONObject) { file: uploadFile(file: $file, metadata: $metadata) { id } }";
    const form = new FormData();
    form.set("operations", JSON.stringify({ query, variables: { file: null, metadata } }));
    form.set("map", JSON.stringify({ 0: ["variables.file"] }));
    form.set("0", new Blob([content]), name);
    const { file } = await this.run<{ file: { id: string } }>(query, form);
    return file.id;
  }

  /** The content behind a link that the server has given. @throws RequestError */
  async download(url: string): Promise<Uint8Array<ArrayBuffer>> {
    const { status, body } = await asked(this.open.send(url));
    if (status !== 200) throw new RequestError(`${url} answered with status ${status}.`, "DOWNLOAD");
    return new Uint8Array(body);
  }

  /** The JSON Schemas of files for this server. @throws RequestError */
  async schemas(kinds: readonly string[]): Promise<Schemas> {
    const schemas: Record<string, object> = {};
    for (const kind of kinds) {
      const url = `${this.url}/schemas/${kind}.json`;
      const answer = await asked(this.open.send(url));
      const { status, body } = answer;
      if (status !== 200)
        throw new RequestError(
          `${url} answered with status ${status}${redirectIn(answer)}. Is this the address of a Parley server of this version?`,
          "NOT_FOUND",
        );
      schemas[kind] = JSON.parse(body.toString()) as object;
    }
    return schemas;
  }

  private async run<T>(
    query: string,
    body: string | FormData,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const key = query.startsWith("mutation") && { "Idempotency-Key": randomUUID() };
    const request = this.http.send(`${this.url}/graphql`, {
      method: "POST",
      body,
      headers: { ...headers, ...key },
      problemIn: (answer) => transientIn(answer, "server"),
    });
    const { data, errors, extensions } = await asked(request.then((answer) => resultOf(answer, "server")));
    this.warnings.push(...(extensions?.warnings ?? []));
    const [error] = errors ?? [];
    if (!error) return data as T;
    const { code = "INTERNAL", details } = error.extensions ?? {};
    if (DENIED.has(code)) throw new DeniedError(`${withoutAdvice(error.message)} ${this.advice}`);
    throw new RequestError(error.message, code, details);
  }
}

/** The result of a request. @throws RequestError */
async function asked<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof ImportStoppedError) throw new RequestError(message, "NETWORK");
    if (error instanceof RefusedError) throw new RequestError(message, "INTERNAL");
    throw error instanceof DeniedError ? new RequestError(message, "INVALID_RESPONSE") : error;
  }
}
