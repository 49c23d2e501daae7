import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { GraphQLError, type GraphQLFormattedError } from "graphql";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import { DomainError } from "../../platform/errors";
import { uploadsIn } from "../multipart/unnamed-copy";

/** The result of an operation, or of one of its root fields. */
export interface OperationResult {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLError[];
}

/** The stored result of a root field. Errors stand below the field: without a value nothing is stored. */
interface Stored {
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors?: readonly GraphQLFormattedError[];
}

/** A request whose results are stored under keys, and the services that it needs. */
export interface Repeatable<Context> {
  /** The stored key of a root field's result; without a field that of the whole request. */
  readonly keyOf: (field?: string) => string;
  /**
   * Runs work once per key.
   * @throws REQUEST_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED, and what the work throws, of which nothing is stored then
   */
  readonly once: <R>(
    request: { readonly key: string; readonly content: unknown; readonly waits: boolean },
    work: (context: Context) => Promise<R>,
  ) => Promise<{ readonly result: R; readonly replayed: boolean }>;
}

/** A root field that can be run by itself. */
export interface Part<Context> {
  readonly key: string;
  readonly waits: boolean;
  readonly run: (context: Context) => Promise<OperationResult>;
}

export interface RepeatedResult {
  readonly data: Record<string, unknown>;
  readonly errors: readonly GraphQLFormattedError[];
  /** Keys of the root fields whose results are those of an earlier request. */
  readonly replayed: readonly string[];
}

/** Failures after which the following fields must not run: another request runs them, or the database is away. */
const STOPS = new Set(["REQUEST_IN_PROGRESS", "TIMEOUT", "UNAVAILABLE"]);

/**
 * Runs the root fields of a mutation one after another, each with the transaction that stores its result. A repeated
 * request runs only the fields that have no result yet.
 * @param content everything that identifies the same request
 * @throws IDEMPOTENCY_KEY_REUSED if the key was used for another request; REQUEST_IN_PROGRESS
 */
export async function runRepeatably<Context>(
  { keyOf, once }: Repeatable<Context>,
  parts: readonly Part<Context>[],
  content: unknown,
  format: (error: GraphQLError) => GraphQLFormattedError,
): Promise<RepeatedResult> {
  await once({ key: keyOf(), content, waits: false }, () => Promise.resolve(null));
  const data: Record<string, unknown> = {};
  const errors: GraphQLFormattedError[] = [];
  const replayed: string[] = [];
  let stop: unknown;
  for (const { key, waits, run } of parts) {
    const done =
      stop === undefined
        ? await partOnce(once, { key: keyOf(key), content, waits }, run, format)
        : { error: stop };
    if ("error" in done) {
      if (done.error instanceof DomainError && STOPS.has(done.error.code)) stop = done.error;
      errors.push(format(at(key, done.error)));
      data[key] = null;
      continue;
    }
    if (done.replayed && key in done.result.data) replayed.push(key); // not if it is skipped
    Object.assign(data, done.result.data);
    errors.push(...(done.result.errors ?? []));
  }
  return { data, errors, replayed };
}

type Done =
  | {
      readonly result: { readonly data: object; readonly errors?: Stored["errors"] };
      readonly replayed: boolean;
    }
  | { readonly error: unknown };

async function partOnce<Context>(
  once: Repeatable<Context>["once"],
  request: { readonly key: string; readonly content: unknown; readonly waits: boolean },
  run: Part<Context>["run"],
  format: (error: GraphQLError) => GraphQLFormattedError,
): Promise<Done> {
  let failed: Stored | undefined;
  try {
    return await once<Stored>(request, async (context) => {
      const { data, errors = [] } = await run(context);
      const stored = {
        data: (data ?? {}) as Stored["data"],
        ...(errors.length > 0 && { errors: errors.map(format) }),
      };
      if (errors.length === 0 || Object.values(stored.data).some((value) => value !== null)) return stored;
      failed = stored;
      throw errors[0]!.originalError ?? errors[0]!; // so that nothing of it is stored
    });
  } catch (error) {
    return failed ? { result: failed, replayed: false } : { error };
  }
}

const at = (key: string, error: unknown): GraphQLError =>
  new GraphQLError((error as Error).message, { path: [key], originalError: error as Error });

/** The variables of a request as text, with a digest in the place of each file. */
export async function identityOf(variables: Readonly<Record<string, unknown>>): Promise<string> {
  const digests = new Map<unknown, unknown>();
  for (const file of uploadsIn(variables))
    digests.set(file, await digestOf(await (file.promise as Promise<FileUpload>)));
  return JSON.stringify(variables, (_name, value: unknown) => digests.get(value) ?? value);
}

async function digestOf({ filename, mimetype, createReadStream }: FileUpload): Promise<unknown> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(), hash);
  return [filename, mimetype, hash.digest("base64url")];
}
