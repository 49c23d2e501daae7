// Checks that take no build: `npm start` reports an address in use, a folder that it may not write or a database that it
// cannot use before it builds. The server checks all again, for starts without this program.
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { dirname, resolve } from "node:path";
import { compileFunction } from "node:vm";

/** Ends the process with instructions if the server could not start. */
export async function preflight() {
  try {
    if (existsSync(".env")) process.loadEnvFile(".env");
  } catch {
    return; // the server says that this user cannot read it
  }
  const problem =
    (await folderProblem(resolve(setting("DATA_DIR") ?? ".data"))) ??
    (await addressProblem()) ??
    (await externalDatabaseProblem());
  if (problem === undefined) return;
  console.error(problem.message);
  process.exit(problem.exitCode ?? 1);
}

/** Name of the user that runs this process, or its number if it has no name. */
export function thisUser() {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid());
  }
}

const setting = (name) => process.env[name]?.trim() || undefined;

const { EX_CONFIG } = createRequire(import.meta.url)("./help.cjs");
const mistake = (error) => Object.assign(error, { exitCode: EX_CONFIG });

/** Why the data folder cannot be used; undefined if it can. Foreign files inside it are found by the server. */
async function folderProblem(folder) {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
    if (statSync(existing).isDirectory()) return undefined;
  } catch {
    // The server's own check explains it.
  }
  const message = await (await bundled("src/platform/database/embedded/data-dir.ts")).folderProblem(folder);
  return message && mistake(new Error(message));
}

/** Why the address cannot be listened on; undefined if it can, or if the server will report an invalid setting. */
async function addressProblem() {
  const port = Number(setting("PORT") ?? 4000);
  const host = setting("HOST") ?? (setting("DATABASE_URL") === undefined ? "127.0.0.1" : "0.0.0.0");
  if (!Number.isInteger(port) || port < 0 || port > 65535) return undefined;
  const server = createServer();
  const error = await new Promise((settle) => {
    server.once("error", settle);
    server.listen(port, host, () => settle(undefined));
  });
  if (error === undefined) return void (await new Promise((closed) => server.close(closed)));
  const { code, message } = error;
  const problem = new Error(
    code === "EADDRINUSE"
      ? `The address ${host}:${port} is already in use. Set PORT to another port, or stop the process using it.`
      : `HOST ${host} and PORT ${port} cannot be used: ${message}.${portAdvice(code, port)}`,
  );
  return /^(EACCES|ENOTFOUND|EINVAL)$/.test(code) ? mistake(problem) : problem;
}

/** As in src/http/address.ts. */
const portAdvice = (code, port) =>
  code === "EACCES" && port < 1024
    ? " Only root may use ports below 1024: set PORT to a higher one, and put a reverse proxy in front of it."
    : "";

/** Why the external database cannot be used; undefined if it can, or if the server will report an invalid setting. */
async function externalDatabaseProblem() {
  const url = setting("DATABASE_OWNER_URL") ?? setting("DATABASE_URL");
  if (url === undefined || !/^postgres(ql)?:/.test(url) || !URL.canParse(url)) return undefined;
  return (await bundled("src/platform/database/connections/suitable.ts")).databaseProblem(url);
}

/** The exports of a module of the server, which is not built yet. */
async function bundled(entry) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "cjs",
    write: false,
  });
  const module = { exports: {} };
  const run = compileFunction(outputFiles[0].text, ["module", "require"]);
  run(module, createRequire(import.meta.url));
  return module.exports;
}
