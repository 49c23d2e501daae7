import type { Readable } from "node:stream";
import type * as S3 from "@aws-sdk/client-s3";
import type * as Multipart from "@aws-sdk/lib-storage";
import type { Config } from "../settings/config";
import { BOUNDS, type BoundedAnswers } from "../outbound/bounds";
import { load } from "./load";
import type { Storage } from "../ports/storage";

type Settings = Pick<Config, "S3_REGION" | "S3_ENDPOINT" | "S3_ACCESS_KEY_ID" | "S3_SECRET_ACCESS_KEY">;

/** Stores files in a bucket of Amazon S3 or a compatible service. */
export function s3Storage(bucket: string, settings: Settings, answers: BoundedAnswers): Storage {
  const { S3Client, GetObjectCommand, HeadObjectCommand, DeleteObjectCommand, NotFound } =
    load<typeof S3>("@aws-sdk/client-s3");
  const { Upload } = load<typeof Multipart>("@aws-sdk/lib-storage");
  const client = new S3Client(optionsOf(settings));
  boundAnswers(client, answers);
  return {
    async put(key, content) {
      let size = 0;
      content.on("data", (chunk: Buffer) => (size += chunk.length));
      // A multipart upload needs no length in advance; parts of a failed one are removed from the bucket.
      await new Upload({
        client,
        params: { Bucket: bucket, Key: key, Body: content },
        leavePartsOnError: false,
      }).done();
      return size;
    },
    async get(key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      return Body as Readable; // the SDK returns a Node stream on Node
    },
    async has(key) {
      try {
        await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
        return true;
      } catch (error) {
        if (error instanceof NotFound) return false;
        throw error;
      }
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },
    list: () => objectsIn(client, bucket),
  };
}

/** All objects of a bucket, page after page. */
async function* objectsIn(
  client: S3.S3Client,
  bucket: string,
): AsyncGenerator<{ key: string; storedAt: Date }> {
  const { ListObjectsV2Command } = load<typeof S3>("@aws-sdk/client-s3");
  let next: string | undefined;
  do {
    const found = await client.send(new ListObjectsV2Command({ Bucket: bucket, ContinuationToken: next }));
    for (const { Key, LastModified } of found.Contents ?? [])
      if (Key && LastModified) yield { key: Key, storedAt: LastModified };
    next = found.NextContinuationToken;
  } while (next !== undefined);
}

/** Limits the size of the service's responses, except the content of files. */
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

/** Timeouts for connecting and for an idle socket, in milliseconds. */
const TIMEOUTS_MS = { connectionTimeout: 5_000, socketTimeout: 30_000 } as const;

function optionsOf({
  S3_REGION,
  S3_ENDPOINT,
  S3_ACCESS_KEY_ID,
  S3_SECRET_ACCESS_KEY,
}: Settings): S3.S3ClientConfig {
  const given = S3_ACCESS_KEY_ID !== undefined && S3_SECRET_ACCESS_KEY !== undefined;
  return {
    region: S3_REGION,
    requestHandler: TIMEOUTS_MS,
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
