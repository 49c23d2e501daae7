import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A server with the part of the S3 protocol that files and backups need. Requests must be signed with `accessKey`. The
 * bucket "nowhere" does not exist; all others are one, unless they are apart: the names of objects then begin with that of
 * their bucket. Deleted objects leave a delete marker, as in a bucket with versions.
 */
export async function startS3(accessKey: string, apart = false) {
  /** Refuses a request with this status or code, breaks the connection off, never answers or never ends, or answers. */
  let refuse: (
    method: string,
    key: string,
  ) => number | keyof typeof STATUSES | "break off" | "stall" | "trickle" | undefined = () => undefined;
  const deleted = new Map<string, Buffer>();
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  let unfinished = 0;
  const server = createServer((req, res) => {
    unfinished++;
    res.once("close", () => unfinished--);
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const signed = `AWS4-HMAC-SHA256 Credential=${accessKey}/`;
      if (!req.headers.authorization?.startsWith(signed)) return refused(res, 403, "InvalidAccessKeyId");
      const [bucket, ...path] = decodeURIComponent(new URL(req.url!, "http://s3").pathname)
        .split("/")
        .slice(1);
      if (bucket === "nowhere") return refused(res, 404, "NoSuchBucket");
      const refusal = refuse(req.method!, path.join("/"));
      if (refusal === "break off") return void req.socket.destroy();
      if (refusal === "stall") return;
      if (refusal === "trickle") return trickle(res);
      if (typeof refusal === "string") return refused(res, STATUSES[refusal], refusal);
      if (refusal !== undefined) return refused(res, refusal, CODES[refusal] ?? "InternalError");
      handle(req, res, plain(req, Buffer.concat(chunks)));
    });
  });

  function handle(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
    const url = new URL(req.url!, "http://s3");
    const [bucket, ...path] = decodeURIComponent(url.pathname).split("/").slice(1);
    const folder = apart ? `${bucket}/` : "";
    const isBucket = path.join("/") === "";
    const key = folder + path.join("/");
    const upload = url.searchParams.get("uploadId");
    const etag = { etag: `"${createHash("md5").update(body).digest("hex")}"` };
    if (req.method === "POST" && url.searchParams.has("uploads")) {
      uploads.set(`upload-${uploads.size}`, new Map());
      return xml(res, "InitiateMultipartUploadResult", `<UploadId>upload-${uploads.size - 1}</UploadId>`);
    }
    if (req.method === "PUT" && upload) {
      uploads.get(upload)!.set(Number(url.searchParams.get("partNumber")), body);
      return void res.writeHead(200, etag).end();
    }
    if (req.method === "POST" && upload) {
      const parts = [...uploads.get(upload)!].sort(([a], [b]) => a - b).map(([, part]) => part);
      objects.set(key, Buffer.concat(parts));
      uploads.delete(upload);
      return xml(res, "CompleteMultipartUploadResult", `<Key>${key}</Key><ETag>"1"</ETag>`);
    }
    if (req.method === "DELETE") {
      if (upload) uploads.delete(upload);
      else if (url.searchParams.has("versionId")) moveObject(key, deleted, objects);
      else moveObject(key, objects, deleted);
      return void res.writeHead(204).end();
    }
    if (req.method === "PUT") {
      objects.set(key, body);
      return void res.writeHead(200, etag).end();
    }
    if (url.searchParams.has("versions")) return listDeleted(res);
    if (isBucket) return list(res, url.searchParams, folder);
    const found = objects.get(key);
    if (!found) return refused(res, 404, "NoSuchKey");
    const start = Number(/bytes=(\d+)-/.exec(req.headers.range ?? "")?.[1] ?? 0);
    const content = found.subarray(start);
    res.writeHead(start > 0 ? 206 : 200, { "content-length": content.length });
    const refusal = refuse("READ", key);
    if (refusal !== "break off") return void res.end(content);
    res.write(content.subarray(0, content.length / 2), () => res.destroy());
  }

  /** One object per page, so that a reader needs several pages. */
  function list(res: ServerResponse, query: URLSearchParams, folder: string): void {
    const [after, prefix] = [query.get("continuation-token"), query.get("prefix") ?? ""];
    const keys = [...objects.keys()]
      .flatMap((name) => (name.startsWith(folder) ? name.slice(folder.length) : []))
      .sort()
      .filter((key) => key.startsWith(prefix) && (after === null || key > after));
    const [key] = keys;
    const contents =
      key === undefined
        ? ""
        : `<Contents><Key>${key}</Key><LastModified>${new Date().toISOString()}</LastModified></Contents>`;
    const more =
      keys.length > 1
        ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${key}</NextContinuationToken>`
        : "";
    xml(res, "ListBucketResult", contents + more);
  }

  /** Delete markers, which are the latest versions of their objects. */
  function listDeleted(res: ServerResponse): void {
    const markers = [...deleted.keys()].map(
      (key) =>
        `<DeleteMarker><Key>${key}</Key><VersionId>marker</VersionId><IsLatest>true</IsLatest></DeleteMarker>`,
    );
    xml(res, "ListVersionsResult", markers.join(""));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    objects,
    uploads,
    /** Number of requests whose response is not sent completely. */
    unfinished: () => unfinished,
    refuse: (by: typeof refuse) => (refuse = by),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Statuses of other codes of the protocol. */
const STATUSES = { NoSuchUpload: 404, ExpiredToken: 400, RequestTimeTooSkewed: 403, NotImplemented: 501 };

/** Sends a byte now and then. */
function trickle(res: ServerResponse): void {
  const timer = setInterval(() => res.write(" "), 50);
  res.once("close", () => clearInterval(timer)).writeHead(200);
}

/** Codes of the protocol for statuses. */
const CODES: Readonly<Record<number, string>> = {
  301: "PermanentRedirect",
  403: "AccessDenied",
  404: "NoSuchBucket",
  503: "SlowDown",
};

function moveObject(key: string, from: Map<string, Buffer>, to: Map<string, Buffer>): void {
  const content = from.get(key);
  if (content) to.set(key, content);
  from.delete(key);
}

const refused = (res: ServerResponse, status: number, code: string): void =>
  void res
    .writeHead(status, { "content-type": "application/xml" })
    .end(`<Error><Code>${code}</Code><Message>refused</Message></Error>`);

const xml = (res: ServerResponse, name: string, content: string): void =>
  void res
    .writeHead(200, { "content-type": "application/xml" })
    .end(`<?xml version="1.0"?><${name}>${content}</${name}>`);

/** The content of a body, which may have been sent in signed chunks. */
function plain(req: IncomingMessage, body: Buffer): Buffer {
  if (!String(req.headers["content-encoding"] ?? "").includes("aws-chunked")) return body;
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const end = body.indexOf("\r\n", at);
    const size = parseInt(body.subarray(at, end).toString().split(";")[0]!, 16);
    if (!size) break;
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
