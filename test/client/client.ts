import type * as client from "../../src/web/client";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterTests, emptyFolder } from "../support/server";

type Client = typeof client;

const ROOT = join(__dirname, "../..");

/** The client's module, in one file: jest does not load the parts that it imports later. */
function bundled(): Client {
  const file = join(emptyFolder(afterTests), "client.cjs");
  const options = ["--bundle", "--platform=node", "--format=cjs", "--log-level=error", `--outfile=${file}`];
  execFileSync(join(ROOT, "node_modules/.bin/esbuild"), ["src/web/client/index.ts", ...options], {
    cwd: ROOT,
  });
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- it was just made
  return require(file) as Client;
}

export const { createClient, ParleyError, verifyWebhook } = bundled();
