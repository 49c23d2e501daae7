import { randomUUID } from "node:crypto";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A request that wrk repeats. In its path and body `{id}` stands for the id of the next assistant, and `{new}` for a new one. */
export interface Shot {
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly body?: string;
}

export interface Measured {
  readonly perSecond: number;
  /** 99th percentile of the latency in ms. */
  readonly p99: number;
}

export interface WrkOptions {
  readonly key: string;
  readonly ids: readonly string[];
  readonly seconds: number;
}

const CONNECTIONS = 32;
const run = promisify(execFile);
const lua = (text: string) => `[==[${text}]==]`;

/** Sends requests with wrk for some seconds. @throws Error for an answer other than 200 or 201 */
export async function wrk(
  origin: string,
  { method, path, body }: Shot,
  { key, ids, seconds }: WrkOptions,
): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "parley-wrk-"));
  const script = join(folder, "shot.lua");
  writeFileSync(
    script,
    `wrk.method = "${method}"
    wrk.headers["X-API-Key"] = "${key}"
    wrk.headers["Content-Type"] = "application/json"
    local ids = { ${ids.map((id) => `"${id}"`).join(",")} }
    local path, body, next = ${lua(path)}, ${body === undefined ? "nil" : lua(body)}, 0
    local run, created = "${randomUUID()}", 0
    local function new()
      created = created + 1
      return run .. "-" .. created
    end
    request = function()
      next = next % #ids + 1
      local id = ids[next]
      return wrk.format(nil, (path:gsub("{id}", id)), nil, body and (body:gsub("{id}", id):gsub("{new}", new)))
    end
    done = function(summary, latency)
      local errors = summary.errors
      io.write(string.format("RESULT %d %d %f %d\\n", summary.requests, summary.duration, latency:percentile(99),
        errors.status + errors.connect + errors.read + errors.timeout))
    end`,
  );
  try {
    const options = [
      "--timeout",
      "30s",
      "-t",
      "1",
      "-c",
      String(CONNECTIONS),
      "-d",
      `${seconds}s`,
      "-s",
      script,
      origin,
    ];
    const { stdout } = await run("wrk", options).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ENOENT" ? new Error("The comparison needs wrk: apt-get install wrk") : error;
    });
    const [, requests, micros, p99, errors] = /RESULT (\d+) (\d+) ([\d.]+) (\d+)/.exec(stdout)!.map(Number);
    if (errors! > 0)
      throw new Error(`${method} ${origin}${path}: ${errors} of ${requests} requests failed\n${stdout}`);
    return { perSecond: requests! / (micros! / 1e6), p99: p99! / 1000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
