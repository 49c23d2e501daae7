import type { ErrorCode } from "../src/platform/errors";

/**
 * The credential that a path requires. "settings" also allows none, for the default organization; "public" allows
 * those for web pages, in their own headers.
 */
export type Auth = "key" | "keyOrBearer" | "public" | "settings" | "none";
export const METHODS = ["get", "post", "patch", "delete"] as const;
export type Method = (typeof METHODS)[number];

/** A documented REST path and the GraphQL document that it maps to. Pure data. */
export interface Route {
  /** The operationId of the OpenAPI document. */
  readonly id: string;
  readonly group: string;
  readonly method: Method;
  /** `:name` is a path parameter; `<name>` is a segment that depends on a setting. */
  readonly path: string;
  readonly auth: Auth;
  /** Status of successful responses. */
  readonly success: number;
  /** Summary, as a sentence. */
  readonly summary: string;
  /** Additions to the description, as sentences of Markdown. */
  readonly notes?: string;
  /**
   * The GraphQL document. A variable named in the path comes from the path, `$input` is the body, the others come
   * from the query string (or from the form of a multipart body). The field with the alias `result` becomes the
   * response. Fields and arguments that the schema marks as extensions are added at startup. A path without a
   * document answers 501.
   */
  readonly document?: string;
  /** The document that reads the record of a PATCH or DELETE, if no GET with the same path does. */
  readonly current?: string;
  /**
   * Name of a handler that answers instead of a document, for paths that don't fit GraphQL. Its body is JSON of any
   * shape, or a form.
   */
  readonly stream?: string;
  /** Examples for a `stream`: a request body, and response bodies by media type. */
  readonly takes?: unknown;
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Error codes besides those of every `stream`. */
  readonly refuses?: readonly ErrorCode[];
  /** Largest body in bytes. */
  readonly bodyLimit?: number;
  /** `multipart`: a form with a file. `form`: a URL-encoded form for a `stream`. */
  readonly body?: "multipart" | "form";
  /** Input fields that are not accepted on this path. */
  readonly omit?: readonly string[];
  /** Advice about fields that clients expect but the path does not take, by field, as a sentence without its end. */
  readonly hints?: Readonly<Record<string, string>>;
  /** Response fields that are `null` if empty, instead of being omitted. */
  readonly nullable?: readonly string[];
  /** Names of the response's schemas in the OpenAPI document, by GraphQL type. Default: the name of the type. */
  readonly components?: Readonly<Record<string, string>>;
  /** The path is an extension of the documented interface. */
  readonly extension?: true;
}

type Path = { readonly [M in Method]: { readonly [K in M]: string } }[Method];
type Row = Pick<
  Route,
  | "id"
  | "summary"
  | "notes"
  | "document"
  | "current"
  | "stream"
  | "takes"
  | "answers"
  | "refuses"
  | "bodyLimit"
  | "body"
  | "omit"
  | "hints"
  | "nullable"
  | "components"
  | "extension"
> &
  Partial<Pick<Route, "success" | "auth">> &
  Path;

/** Defines a group of routes with the same credential. The default of `success` is 200. */
export function group<const R extends readonly Row[]>(name: string, auth: Auth, rows: R) {
  return rows.map((row) => {
    const method = METHODS.find((method) => method in row)!;
    const path = (row as Readonly<Record<string, unknown>>)[method] as string; // a row names exactly one method
    return { success: 200, auth, ...row, group: name, method, path } as Route & {
      readonly id: R[number]["id"];
    };
  });
}
