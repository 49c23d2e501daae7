import type { Readable } from "node:stream";
import type * as S3 from "@aws-sdk/client-s3";
import type * as Multipart from "@aws-sdk/lib-storage";
import type { Config } from "../settings/config";
import { BOUNDS, type BoundedAnswers } from "../outbound/bounds";
import { load } from "./load";
import type { Storage } from "../ports/storage";

export type S3Settings = Pick<
  Config,
  "S3_REGION" | "S3_ENDPOINT" | "S3_ACCESS_KEY_ID" | "S3_SECRET_ACCESS_KEY"
>;

/** Time limits of a store. */
export interface Patience {
  /** Longest silence on a connection, in ms. */
  readonly idleMs: number;
  /** Until an answer begins, with all attempts, in ms. */
  readonly answerMs: number;
  /** Until a part of an upload is stored, with all attempts, in ms. */
  readonly partMs: number;
  readonly attempts: number;
}

/** While a client waits, whose request ends after 10 s, or 60 s for an upload. */
export const FOR_REQUESTS: Patience = { idleMs: 30_000, answerMs: 4_000, partMs: 25_000, attempts: 3 };

/** For commands, which would have to start again. */
export const FOR_COMMANDS: Patience = {
  idleMs: 30_000,
  answerMs: 300_000,
  partMs: 600_000,
  attempts: 6,
};

export interface S3Place {
  readonly bucket: string;
  readonly patience: Patience;
  /** Prefix of all keys, such as `backups/`. */
  readonly prefix?: string;
  /** Size of the parts of an upload; a store accepts 10,000 of them. By default 5 MiB. */
  readonly partBytes?: number;
}

export interface S3Storage extends Storage {
  /** The content from this byte on; undefined if nothing is stored under this key. */
  getFrom(key: string, start: number): Promise<Readable | undefined>;
}

/** Stores files in a bucket of Amazon S3 or a compatible service. */
export function s3Storage(
  { bucket, patience, prefix = "", partBytes }: S3Place,
  settings: S3Settings,
  answers: BoundedAnswers,
): S3Storage {
  // The SDK says at each start on Node 20 what its versions of 2027 need. Parley's lockfile decides which one runs.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  const { S3Client, GetObjectCommand, HeadObjectCommand, DeleteObjectCommand, NotFound, NoSuchKey } =
    load<typeof S3>("@aws-sdk/client-s3");
  const client = bounded(new S3Client(optionsOf(settings, patience)), patience, answers);
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  const bodyOf = async (key: string, start: number) => {
    const Range = start > 0 ? `bytes=${start}-` : undefined;
    const { Body } = await client.send(new GetObjectCommand({ ...at(key), Range }));
    return Body as Readable; // the SDK returns a Node stream on Node
  };
  return {
    put: (key, content) => upload(client, { ...at(key), Body: content }, partBytes),
    get: (key) => bodyOf(key, 0),
    getFrom: (key, start) =>
      bodyOf(key, start).catch((error: unknown) => {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }),
    async has(key) {
      try {
        await client.send(new HeadObjectCommand(at(key)));
        return true;
      } catch (error) {
        if (error instanceof NotFound) return false;
        throw error;
      }
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand(at(key)));
    },
    list: () => objectsIn(client, bucket, prefix),
  };
}

/** @returns the size of the content in bytes */
async function upload(
  client: S3.S3Client,
  params: S3.PutObjectCommandInput & { Body: Readable },
  partSize: number | undefined,
): Promise<number> {
  const { Upload } = load<typeof Multipart>("@aws-sdk/lib-storage");
  let size = 0;
  params.Body.on("data", (chunk: Buffer) => (size += chunk.length));
  const memory = partSize === undefined ? {} : { partSize, queueSize: 2 };
  // A multipart upload needs no length in advance; parts of a failed one are removed from the bucket.
  await new Upload({ client, params, leavePartsOnError: false, ...memory }).done();
  return size;
}

/** All objects with a prefix, page after page; their keys without it. */
async function* objectsIn(
  client: S3.S3Client,
  bucket: string,
  prefix: string,
): AsyncGenerator<{ key: string; storedAt: Date }> {
  const { ListObjectsV2Command } = load<typeof S3>("@aws-sdk/client-s3");
  let next: string | undefined;
  do {
    const found = await client.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: prefix || undefined,
        ContinuationToken: next,
      }),
    );
    for (const { Key, LastModified } of found.Contents ?? [])
      if (Key && LastModified) yield { key: Key.slice(prefix.length), storedAt: LastModified };
    next = found.NextContinuationToken;
  } while (next !== undefined);
}

function bounded(client: S3.S3Client, patience: Patience, answers: BoundedAnswers): S3.S3Client {
  boundTimes(client, patience);
  boundAnswers(client, answers);
  return client;
}

/** Commands that send content or end an upload. All others are answered at once. */
const STORING: ReadonlySet<unknown> = new Set([
  "PutObjectCommand",
  "UploadPartCommand",
  "CompleteMultipartUploadCommand",
]);

/** Limits the time that a command waits for its answer, in all attempts. */
function boundTimes({ middlewareStack }: S3.S3Client, { answerMs, partMs }: Patience): void {
  middlewareStack.add(
    (next, { commandName }) => {
      const limit = STORING.has(commandName) ? partMs : answerMs;
      return async (args) => {
        const answering = next(args);
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(timeoutError(limit)), limit);
        });
        try {
          return await Promise.race([answering, late]);
        } catch (error) {
          answering.then(({ output }) => contentOf(output)?.destroy()).catch(() => undefined);
          throw error;
        } finally {
          clearTimeout(timer);
        }
      };
    },
    { step: "initialize", priority: "high" }, // outside the attempts
  );
}

const timeoutError = (milliseconds: number): Error =>
  Object.assign(new Error(`The store did not answer within ${milliseconds / 1_000} s.`), {
    name: "TimeoutError",
  });

/** The unread content in an answer. */
const contentOf = (output: object): Readable | undefined => (output as { Body?: Readable }).Body;

/** Limits the size of the service's responses, and their time, except the content of files. */
function boundAnswers({ middlewareStack }: S3.S3Client, answers: BoundedAnswers): void {
  middlewareStack.add(
    (next) => async (args) => {
      const answered = await next(args);
      const request = args.request as Request;
      const response = answered.response as Response;
      const lists = request.query !== undefined && "list-type" in request.query;
      const isContent = request.method === "GET" && response.statusCode < 300 && !lists;
      if (!isContent && response.body)
        response.body = answers.stream(response.body, "the store of files", BOUNDS.storage);
      return answered;
    },
    { step: "deserialize", priority: "low" }, // sees the response before the SDK reads it
  );
}

interface Request {
  readonly method: string;
  readonly query?: object;
}

interface Response {
  readonly statusCode: number;
  body?: Readable;
}

/** Timeout for connecting, in milliseconds. */
const CONNECTION_TIMEOUT_MS = 5_000;

function optionsOf(
  { S3_REGION, S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY }: S3Settings,
  { idleMs, attempts }: Patience,
): S3.S3ClientConfig {
  const given = S3_ACCESS_KEY_ID !== undefined && S3_SECRET_ACCESS_KEY !== undefined;
  return {
    region: S3_REGION,
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: idleMs },
    maxAttempts: attempts,
    ...(given && { credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY } }),
    // Other services support neither Amazon's checksums nor bucket names in the host name.
    ...(S3_ENDPOINT !== undefined && {
      endpoint: S3_ENDPOINT,
      forcePathStyle: true,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    }),
  };
}
