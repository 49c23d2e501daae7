import { exactJson, readExactly } from "../../platform/json/json-source";
import type { JsonObject } from "../../platform/json/json-object";
import type { Problem } from "../../platform/errors";
import { DeniedError, ImportStoppedError, redirectIn, type Answer, type Http } from "./http";
import type { Notes } from "./report";
import { objectsIn } from "./source";

export interface GraphQLProblem {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly details?: readonly Problem[] };
}
interface Result {
  readonly data?: JsonObject | null;
  readonly errors?: readonly GraphQLProblem[];
  readonly extensions?: { readonly warnings?: readonly string[] };
}

/** A mutation that the target refuses. */
export class TargetError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly details: readonly Problem[],
  ) {
    super(message);
  }
}

const TRANSIENT = new Set(["UNAVAILABLE", "TIMEOUT", "RATE_LIMITED", "REQUEST_IN_PROGRESS"]);
/** Errors that every further request would meet, too: with this key, or until there is room. */
export const DENIED = new Set(["UNAUTHENTICATED", "FORBIDDEN"]);
const FULL = new Set(["QUOTA_EXCEEDED", "INSUFFICIENT_STORAGE"]);

const ASSISTANTS =
  "query Assistants($page: Int!) { assistants(order: asc, page: $page, take: 100) { data { id } meta { hasNextPage } } }";

const KEY_ADVICE =
  "Name one with --key or PARLEY_KEY that the operator of the target makes: `npm run --silent key:create -- --import`.";

/** The reason of an error about a key. What the server advises for one request is too little for all of them. */
export const withoutAdvice = (message: string): string => message.split(/(?<=\.) /, 1)[0]!;

/** A file for a mutation with the argument `file`. */
export interface SentFile {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

/** The server that records are imported into. */
export class Target {
  constructor(
    private readonly http: Http,
    private readonly url: string,
    private readonly report: Notes,
  ) {}

  /** Ids of the assistants that are here. */
  async assistantIds(): Promise<Set<string>> {
    const ids = new Set<string>();
    for (let page = 1; ; page++) {
      const { assistants } = await this.run(ASSISTANTS, { page });
      const { data, meta } = assistants as { data: { id: string }[]; meta: { hasNextPage: boolean } };
      for (const { id } of data) ids.add(id);
      if (!meta.hasNextPage) return ids;
    }
  }

  /** The data of an operation. @throws TargetError; DeniedError or ImportStoppedError if every further request would fail */
  async run(query: string, variables: JsonObject = {}, file?: SentFile): Promise<JsonObject> {
    const { data, errors } = await this.send(query, variables, file);
    return errors ? failWith(errors) : (data ?? {});
  }

  /** The records with these ids that are here. @param ids at most 100 @param selection of them, such as `... on Chat { id }` */
  async nodes(ids: readonly string[], selection: string): Promise<JsonObject[]> {
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ${selection} } }`;
    const { data, errors = [] } = await this.send(query, { ids });
    const others = errors.filter(({ extensions }) => extensions?.code !== "NODE_NOT_FOUND");
    return others.length > 0 ? failWith(others) : objectsIn(data?.nodes);
  }

  /** @returns no errors instead of an empty list */
  private async send(query: string, variables: JsonObject, file?: SentFile): Promise<Result> {
    const request = { query, variables: { ...variables, ...(file && { file: null }) } };
    const body = file ? formOf(request, file) : exactJson(request);
    const headers = {
      "Apollo-Require-Preflight": "true",
      ...(!file && { "Content-Type": "application/json" }),
    };
    const answer = await this.http.send(`${this.url}/graphql`, {
      method: "POST",
      body,
      headers,
      problemIn: (one) => transientIn(one),
    });
    const { data, errors } = resultOf(answer);
    return { ...(data && { data }), ...(errors?.[0] && { errors }) };
  }

  /**
   * Runs a mutation without the values that it refuses, which the report then lists.
   * @param what the record, for the report: its kind in the singular
   * @returns undefined if the target refuses the record itself
   */
  async store(
    what: string,
    id: string,
    query: string,
    variables: JsonObject,
    file?: SentFile,
  ): Promise<JsonObject | undefined> {
    let left: JsonObject = variables;
    const notes: string[] = [];
    for (;;) {
      try {
        const data = await this.run(query, left, file);
        for (const note of notes) this.report.note(note, id);
        return data;
      } catch (error) {
        if (!(error instanceof TargetError)) throw error;
        const rest = error.code === "BAD_USER_INPUT" ? withoutAll(left, error.details) : undefined;
        if (rest) {
          left = rest;
          notes.push(...error.details.map((problem) => leftOut(problem, what)));
          continue;
        }
        this.report.refuse(`This ${what} was refused: ${error.message.replace(/\.$/, "")}.`, id);
        return undefined;
      }
    }
  }
}

/** @throws TargetError; DeniedError or ImportStoppedError if every further request would fail */
function failWith(errors: readonly GraphQLProblem[]): never {
  const [error] = errors;
  const { code = "", details = [] } = error!.extensions ?? {};
  const { message } = error!;
  if (DENIED.has(code))
    throw new DeniedError(`The target refuses the key: ${withoutAdvice(message)} ${KEY_ADVICE}`);
  if (FULL.has(code)) throw new ImportStoppedError(`The target refuses the import: ${message}`);
  throw new TargetError(
    code,
    message,
    errors.flatMap((one) => one.extensions?.details ?? details),
  );
}

/** Fields without which there is no record, or one with more rights than at the source. */
const NEEDED = new Set([
  ...["id", "name", "value", "url", "secret", "type", "createdAt", "messages", "role"],
  ...["status", "enabled", "permissions", "assistantIds", "expiresAt"],
]);

/** The variables without the refused values; undefined if one cannot be left out. */
function withoutAll(variables: JsonObject, problems: readonly Problem[]): JsonObject | undefined {
  if (problems.length === 0) return undefined;
  let rest: object | undefined = variables;
  // The last ones of a list first, because others keep their places then.
  for (const { path } of problems.toReversed()) rest &&= without(rest, path.split("."));
  return rest as JsonObject | undefined; // a copy of an object is one
}

function leftOut({ path, message }: Problem, what: string): string {
  const sentence = `${path.replace(/^input\./, "")} of this ${what} was left out: ${message}`;
  return /[.?]$/.test(message) ? sentence : `${sentence}.`;
}

/** A copy without the value at a path, with the same other values; undefined if there is none, or if the record needs it. */
function without(value: object, [name = "", ...rest]: readonly string[]): object | undefined {
  if (!Object.hasOwn(value, name)) return undefined;
  const inner = (value as JsonObject)[name]; // lists have indexes as names
  if (rest.length > 0) {
    const copy = typeof inner === "object" && inner !== null ? without(inner, rest) : undefined;
    if (!copy) return undefined;
    return Array.isArray(value) ? (value as unknown[]).with(Number(name), copy) : { ...value, [name]: copy };
  }
  if (NEEDED.has(name)) return undefined;
  if (Array.isArray(value)) return (value as unknown[]).toSpliced(Number(name), 1);
  const { [name]: _, ...others } = value as JsonObject;
  return others;
}

function formOf(request: JsonObject, { name, type, content }: SentFile): FormData {
  const form = new FormData();
  form.set("operations", exactJson(request));
  form.set("map", JSON.stringify({ 0: ["variables.file"] }));
  form.set("0", new Blob([new Uint8Array(content)], { type }), name);
  return form;
}

/** @param service its name in messages */
export function transientIn(answer: Answer, service = "target"): string | undefined {
  const error = resultOf(answer, service).errors?.find(({ extensions }) =>
    TRANSIENT.has(extensions?.code ?? ""),
  );
  return error && `asks to wait (${error.message})`;
}

/** @param service its name in messages. @throws DeniedError if the answer is none of GraphQL */
export function resultOf(answer: Answer, service = "target"): Result {
  const { status, body } = answer;
  try {
    const result = readExactly(body.toString());
    if (typeof result === "object" && result !== null && ("data" in result || "errors" in result))
      return result as Result; // its form is that of an answer of GraphQL
  } catch {
    // reported below
  }
  throw new DeniedError(
    `The ${service} gave no answer of GraphQL (status ${status}${redirectIn(answer)}): --url must be the address of a Parley server, such as https://parley.example.com.`,
  );
}
