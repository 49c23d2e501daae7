import type { CompiledRoute } from "../../rest-compat/compile";
import { STATUS } from "../../src/http/errors/error-body";
import type { ErrorCode } from "../../src/platform/errors";
import type { Answer, Api } from "../support/api";
import { send, type Call } from "../support/examples";
import type { JsonObject } from "../support/openapi";
import { type Bijection } from "./bijection";
import { casesOf, type Case } from "./cases";
import { COUNTERPARTS, type Counterpart } from "./counterparts";
import type { Documents } from "./document";
import { changedTables, effectDifferences } from "./effects";
import type { Seed } from "./seed";
import { apiWith, type Sides } from "./sides";

/** The entry of the certificate about a REST row. */
export interface RowResult {
  readonly row: string;
  readonly request: string;
  /** The fields of GraphQL that do the same, or the reason why there are none. */
  readonly counterpart: string;
  readonly cases: number;
  /** Cases in which both interfaces answered with the same value, and with the same error. */
  readonly values: number;
  readonly errors: number;
  /** Tables in which both changed the same rows. */
  readonly changes: readonly string[];
  /** Rules of the REST contract alone, with the reason. */
  readonly documented: readonly string[];
  readonly differences: readonly string[];
}

/** The answer of either interface, in the same form. */
interface Outcome {
  readonly status: number;
  readonly value?: unknown;
  readonly warnings?: readonly string[];
  readonly error?: {
    readonly code: unknown;
    readonly message: unknown;
    readonly details?: readonly Detail[] | undefined;
  };
}

interface Detail {
  readonly path: string;
  readonly message: string;
}

/** The findings of the cases of a row so far. */
interface Found {
  values: number;
  errors: number;
  readonly changes: Set<string>;
  readonly documented: Set<string>;
}

/** Runs the cases of REST rows on both interfaces. */
export class RowRunner {
  constructor(
    private readonly sides: Sides<Seed>,
    private readonly documents: Documents,
    private readonly bijection: Bijection,
  ) {}

  async run(row: CompiledRoute): Promise<RowResult> {
    const counterpart = COUNTERPARTS[row.id as keyof typeof COUNTERPARTS] as Counterpart | string | undefined;
    const request = `${row.method.toUpperCase()} ${row.path}`;
    const nothing = { row: row.id, request, cases: 0, values: 0, errors: 0, changes: [], documented: [] };
    if (counterpart === undefined)
      return {
        ...nothing,
        counterpart: "",
        differences: ["test/certificate/counterparts.ts lacks this row"],
      };
    if (typeof counterpart === "string") {
      const differences = row.document === undefined ? [] : ["the row has a document, but no counterpart"];
      return { ...nothing, counterpart, differences };
    }
    const { seed } = this.sides;
    const world = { ...seed.world, ...seed.own[row.id] };
    const found: Found = { values: 0, errors: 0, changes: new Set(), documented: new Set() };
    const differences: string[] = [];
    const cases = casesOf(row, this.documents.openApi, world, seed.stranger);
    for (const one of cases) {
      for (const difference of await this.compare(row, counterpart, one, found))
        differences.push(`${one.title}: ${difference}`);
    }
    if (found.values === 0) differences.push("no case has succeeded");
    return {
      ...nothing,
      counterpart: counterpart.levels.map(([field]) => field).join("."),
      cases: cases.length,
      values: found.values,
      errors: found.errors,
      changes: [...found.changes].sort(),
      documented: [...found.documented],
      differences,
    };
  }

  private async compare(
    row: CompiledRoute,
    counterpart: Counterpart,
    { call, credential }: Case,
    found: Found,
  ): Promise<string[]> {
    const { rest, graphql, seed } = this.sides;
    const [left, right] = await Promise.all([
      this.byRest(row, apiWith(rest, seed.tokens, credential), call),
      this.byGraphql(row, counterpart, apiWith(graphql, seed.tokens, credential), call),
    ]);
    const own = credential && counterpart.own?.[credential];
    if (own) found.documented.add(`${credential}: ${own.reason}`);
    if (own?.status !== undefined) return this.bijection.differences(left.status, own.status, "status");
    const differences = this.bijection.differences(...comparable(left, right, own !== undefined));
    if (left.error === undefined) found.values++;
    else found.errors++;
    // An error should change nothing, so its changes would appear with those of the next success.
    if (left.error !== undefined && right.error !== undefined) return differences;
    const [ours, theirs] = await Promise.all([rest.changes.next(), graphql.changes.next()]);
    for (const table of changedTables(ours)) found.changes.add(table);
    return [...differences, ...effectDifferences(ours, theirs, this.bijection, ["REST", "GRAPHQL"])];
  }

  private async byRest(row: CompiledRoute, api: Api, call: Call): Promise<Outcome> {
    const { status, body, headers } = await send(api, row, call);
    if (status < 400) return { status, value: body, warnings: warningsOf(headers) };
    const { code, message, details } = Object(body) as NonNullable<Outcome["error"]>;
    return { status, error: { code, message, details } };
  }

  private async byGraphql(
    row: CompiledRoute,
    counterpart: Counterpart,
    api: Api,
    call: Call,
  ): Promise<Outcome> {
    const response = this.documents.openApi.operation(row.id).responses[row.success]!;
    const schema = response.content["application/json"]!.schema;
    const asked = this.documents.of(counterpart, call, schema);
    const answer = await (call.form
      ? upload(api, asked, call.form)
      : api.graphql(asked.query, asked.variables));
    const { data, errors } = answer.body as { data?: JsonObject; errors?: readonly GraphqlError[] };
    if (errors?.[0]) return refused(errors, namesOf(counterpart));
    const value = asked.path.reduce<unknown>((at, name) => Object(at)[name] as unknown, data);
    const { warnings = [] } = Object((answer.body as JsonObject).extensions) as { warnings?: string[] };
    return {
      status: row.success,
      value: this.documents.expected(value, schema),
      warnings: warnings.map(inAscii),
    };
  }
}

/** The message of graphql-js for a variable of another type. */
const OF_TYPES = /^Variable "\$/;

/** Both outcomes without the wording of type errors, which GraphQL's library writes; their paths and codes stay. */
function comparable(left: Outcome, right: Outcome, isOwn: boolean): [Outcome, Outcome] {
  if (!isOwn && !OF_TYPES.test(String(right.error?.message))) return [left, right];
  const bare = ({ status, error }: Outcome): Outcome => ({
    status,
    ...(error && {
      error: {
        code: error.code,
        message: "",
        details: error.details?.map(({ path }) => ({ path, message: "" })),
      },
    }),
  });
  return [bare(left), bare(right)];
}

/** The texts in the header `Warning`. */
const warningsOf = (headers: Headers): string[] =>
  [...(headers.get("warning") ?? "").matchAll(/299 parley "((?:[^"\\]|\\.)*)"/g)].map(([, text]) =>
    text!.replaceAll(/\\(.)/g, "$1"),
  );

/** A text as a header may contain it. */
const inAscii = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/gu, (one) =>
    /[\p{L}\p{M}\p{N}]/u.test(one) ? encodeURIComponent(one) : "?",
  );

interface GraphqlError {
  readonly message: string;
  readonly extensions: { readonly code: ErrorCode; readonly details?: readonly Detail[] };
}

/** GraphQL names the argument around a field of the body, which REST does not have. */
const withoutArgument = (text: string): string => text.replace(/\binput\.(?=\w)/g, "");

/** The names that REST has for arguments. */
const namesOf = ({ levels, below = {} }: Counterpart): ReadonlyMap<string, string> =>
  new Map(
    [...levels.map(([, args]) => args), ...Object.values(below)].flatMap((args) => Object.entries(args)),
  );

function refused(errors: readonly GraphqlError[], names: ReadonlyMap<string, string>): Outcome {
  const [{ message, extensions }] = errors as readonly [GraphqlError];
  const details = errors.flatMap((error) => error.extensions.details ?? []);
  return {
    status: STATUS[extensions.code],
    error: {
      code: extensions.code,
      message: withoutArgument(message),
      details:
        details.length === 0
          ? undefined
          : details.map(({ path, message }) => ({ path: names.get(path) ?? withoutArgument(path), message })),
    },
  };
}

/** Uploads by the GraphQL multipart request specification. */
function upload(
  api: Api,
  { query, variables }: { query: string; variables: object },
  { name, content }: NonNullable<Call["form"]>,
): Promise<Answer> {
  const form = new FormData();
  form.set("operations", JSON.stringify({ query, variables }));
  form.set("map", JSON.stringify({ file: ["variables.file"] }));
  form.set("file", new File([content], name, { type: "text/plain" }));
  return api.request("POST", "/graphql", form, { "Apollo-Require-Preflight": "true" });
}
