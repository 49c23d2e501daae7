import type { ErrorCode } from "../src/platform/errors";

/** Which credential a path takes: "settings" also takes none, and stands for the default organization then; "public" takes those that a web page may have, in headers of their own. */
export type Auth = "key" | "keyOrBearer" | "public" | "settings" | "none";
export const METHODS = ["get", "post", "patch", "delete"] as const;
export type Method = (typeof METHODS)[number];

/** One documented REST path and the GraphQL document that it stands for. Pure data. */
export interface Route {
  /** The operationId of the OpenAPI document. */
  readonly id: string;
  readonly group: string;
  readonly method: Method;
  /** `:name` is a path parameter, `<name>` a segment that a setting names. */
  readonly path: string;
  readonly auth: Auth;
  /** Status of the answer when all went well. */
  readonly success: number;
  /** What it does, in a sentence. */
  readonly summary: string;
  /**
   * Runs for a request. A variable named in the path comes from the path, `$input` is the body, the others come from
   * the query string (of a multipart body: from the form). The field with the alias `result` is the answer.
   * Without a document the path is known and answers 501.
   */
  readonly document?: string;
  /**
   * Instead of a document, where the wire is not GraphQL's: the name of the handler that answers it. Its body is
   * JSON of any shape, or a form.
   */
  readonly stream?: string;
  /** An example of what a `stream` takes, and of what it answers with, by media type. */
  readonly takes?: unknown;
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Codes that it may fail with beside those of every `stream`. */
  readonly refuses?: readonly ErrorCode[];
  /** Most bytes of its body. */
  readonly bodyLimit?: number;
  /** `multipart`: the body is a form with a file. `form`: a `stream` gets the names and values of a form. */
  readonly body?: "multipart" | "form";
  /** Fields of the input that this path's body does not have. */
  readonly omit?: readonly string[];
  /** Fields that are `null` in the answer where they are empty, instead of being left out. */
  readonly nullable?: readonly string[];
  /** Its work waits for HTTP: no transaction of the database is open meanwhile. */
  readonly waits?: true;
}

type Path = { readonly [M in Method]: { readonly [K in M]: string } }[Method];
type Row = Pick<
  Route,
  | "id"
  | "summary"
  | "document"
  | "stream"
  | "takes"
  | "answers"
  | "refuses"
  | "bodyLimit"
  | "body"
  | "omit"
  | "nullable"
  | "waits"
> &
  Partial<Pick<Route, "success" | "auth">> &
  Path;

/** A group of rows that share their credential. Without `success` a row answers 200. */
export function group<const R extends readonly Row[]>(name: string, auth: Auth, rows: R) {
  return rows.map((row) => {
    const method = METHODS.find((method) => method in row)!;
    const path = (row as Readonly<Record<string, unknown>>)[method] as string; // a row names exactly one method
    return { success: 200, auth, ...row, group: name, method, path } as Route & {
      readonly id: R[number]["id"];
    };
  });
}
