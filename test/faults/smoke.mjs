// Runs the README's command like a newcomer: `node test/faults/smoke.mjs`, after the build. With `--external` it
// runs on the system's own PostgreSQL by DATABASE_URL; with `--package` it runs the packed package by npx in an empty folder,
// without the packages for development; with `--image` it makes the files of the container image, without an engine.
// Plain Node: only the start of that PostgreSQL is shared with other tests.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createCluster, identity, isReady, programs, startCluster } from "../support/system-postgres.cjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const folders = [];
const running = new Set();

const emptyFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-smoke-"));
  folders.push(folder);
  return folder;
};

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
}

async function until(isSo, what, timeoutMs = 60_000) {
  for (const limit = Date.now() + timeoutMs; Date.now() < limit; await sleep(50)) if (await isSo()) return;
  throw new Error(`${what} did not happen within ${timeoutMs / 1000} s`);
}

const say = (line) => console.log(`  ${line}`);

/** Runs `npm start`, or another command in another folder, in its own process group. */
async function start(env, { cwd = ROOT, words = ["npm", "start"], user = {} } = {}) {
  const began = Date.now();
  const npm = spawn(words[0], words.slice(1), {
    cwd,
    ...user,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(npm);
  const ended = once(npm, "exit").then(([code, signal]) => {
    running.delete(npm);
    return code ?? signal;
  });
  let output = "";
  npm.stdout.setEncoding("utf8").on("data", (text) => (output += text));
  await until(
    () => /^Try it:\n\n.*\n/m.test(output) || npm.exitCode !== null,
    `${words.join(" ")} says that it is ready`,
  );
  assert.equal(npm.exitCode, null, `${words.join(" ")} ended with ${npm.exitCode}:\n${output}`);
  say(`${words.join(" ")}: ready after ${Date.now() - began} ms`);
  const url = /GraphQL +(\S+)\/graphql/.exec(output)[1];
  const curl = /^ {2}(curl .*)$/m.exec(output)[1];
  return { npm, ended, output, url, curl };
}

const paste = (line) =>
  execFileSync("sh", ["-c", `${line} --silent --show-error --fail`], { encoding: "utf8" });

async function answer(url, options = {}) {
  const response = await fetch(url, options);
  const text = await response.text();
  assert.equal(response.status, 200, `${url}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}

const json = async (url, key, body) => {
  const headers = { "X-API-Key": key, ...(body && { "Content-Type": "application/json" }) };
  return JSON.parse(
    await answer(url, { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) }),
  );
};

/** Checks pages, documents and both interfaces (REST and GraphQL). @returns the id of a created assistant */
async function lookAround({ url, curl }, key) {
  assert.equal(JSON.parse(paste(curl)).data.length, 6, "the printed curl line lists six templates");
  const html = { headers: { Accept: "text/html" } };
  assert.match(await answer(`${url}/graphql`, html), /<script/, "the playground is a page");
  assert.match(await answer(`${url}/rest/docs`, html), /<script/, "the REST documentation is a page");
  assert.equal((await json(`${url}/rest/openapi.json`, key)).openapi, "3.1.0");
  const query = { query: "{ organization { id } assistants { meta { itemCount } } }" };
  assert.equal((await json(`${url}/graphql`, key, query)).data.assistants.meta.itemCount, 0);
  assert.equal(JSON.parse(await answer(`${url}/health/ready`)).status, "ok");
  const { id } = await json(`${url}/rest/v1/assistants`, key, { name: "Smoke" });
  say(
    "curl line, GraphQL, playground, REST documentation, OpenAPI and readiness answer; an assistant is made",
  );
  return id;
}

async function createOrganization({ url }, env, { cwd = ROOT, words = ["npm", "run", "--silent"] } = {}) {
  const between = words[0] === "npm" ? ["--"] : [];
  const options = [...words.slice(1), "org:create", ...between, "--name", "Beside"];
  const printed = execFileSync(words[0], options, {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  assert.match(printed, /^\{.*\}\n$/, "org:create prints one line of JSON");
  const { organizationId, secretKey } = JSON.parse(printed);
  assert.equal((await json(`${url}/rest/v1/organization`, secretKey)).id, organizationId);
  say("org:create beside the server prints one line, and its key works");
}

async function endsWell({ npm, ended }) {
  const began = Date.now();
  process.kill(npm.pid, "SIGTERM");
  assert.equal(await ended, 0, "SIGTERM ends npm start with 0");
  say(`SIGTERM: exit code 0 after ${Date.now() - began} ms`);
}

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
};

async function embedded() {
  const env = { DATA_DIR: emptyFolder(), PORT: String(await freePort()) };
  const first = await start(env);
  const key = /SECRET +(\S+)/.exec(first.output)[1];
  const id = await lookAround(first, key);

  const { cluster } = JSON.parse(readFileSync(join(env.DATA_DIR, "postgres.json"), "utf8"));
  const lock = join(cluster ?? join(env.DATA_DIR, "postgres"), "postmaster.pid");
  const postgres = Number.parseInt(readFileSync(lock, "utf8"));
  assert(isAlive(postgres));
  process.kill(-first.npm.pid, "SIGKILL"); // npm and the server; PostgreSQL is in a session of its own
  await until(
    () => !isAlive(postgres) && !existsSync(lock),
    "after kill -9 of the server its PostgreSQL ends",
  );
  say("kill -9 of the server: no PostgreSQL is left");

  const second = await start(env);
  assert.doesNotMatch(second.output, /parley_[sp]k_/, "the second start prints no key");
  assert.equal((await json(`${second.url}/rest/v1/assistants/${id}`, key)).name, "Smoke");
  paste(second.curl);
  say("second start: the assistant is still there, no key is printed, its curl line works");
  await createOrganization(second, env);
  await restoresElsewhere(second, env, key, id);
  await endsWell(second);
}

const command = (name, env, ...options) =>
  execFileSync("npm", ["run", "--silent", name, "--", ...options], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });

/** A backup of the running service, restored into an empty folder. */
async function restoresElsewhere({ url }, env, key, id) {
  const backup = join(emptyFolder(), "backup");
  const form = new FormData();
  form.set("file", new Blob(["kept"]), "kept.txt");
  const headers = { "X-API-Key": key };
  const upload = await fetch(`${url}/rest/v1/files/upload`, { method: "POST", headers, body: form });
  const { id: file } = await upload.json();
  assert.match(command("backup", env, backup, "--include-keys"), /, 1 file\./);
  const other = { DATA_DIR: emptyFolder(), PORT: String(await freePort()) };
  assert.match(command("restore", other, backup), /HELD/);
  const restored = await start(other);
  assert.match(restored.output, /HELD/);
  assert.equal((await json(`${restored.url}/rest/v1/assistants/${id}`, key)).name, "Smoke");
  const { url: link } = await json(`${restored.url}/rest/v1/files/${file}/download`, key);
  assert.equal(await answer(link), "kept");
  assert.match(command("release", other), /Released/);
  await endsWell(restored);
  say("a backup of the running service works in an empty folder, and is released there");
}

/** Starts the system's PostgreSQL, as an ordinary user if this runs as root. */
async function systemPostgres() {
  const folder = emptyFolder();
  const { uid, gid } = identity();
  if (uid) chownSync(folder, uid, gid);
  const data = join(folder, "data");
  createCluster(data);
  const port = await freePort();
  const postgres = startCluster(data, port);
  await until(() => isReady(data), "the system's PostgreSQL is ready");
  return { postgres, url: `postgres://parley@127.0.0.1:${port}/postgres` };
}

async function external() {
  if (!programs())
    return say("LEFT OUT: no PostgreSQL of the system is installed (as root on Debian, .ci/run installs it)");
  const { postgres, url } = await systemPostgres();
  try {
    const env = {
      DATABASE_URL: url,
      ENCRYPTION_KEYS: "a key that only the smoke test of DATABASE_URL has",
      DATA_DIR: emptyFolder(),
      HOST: "127.0.0.1",
      PORT: String(await freePort()),
    };
    const first = await start(env);
    const key = /SECRET +(\S+)/.exec(first.output)[1];
    const id = await lookAround(first, key);
    await createOrganization(first, env);
    await endsWell(first);
    const second = await start(env);
    assert.equal((await json(`${second.url}/rest/v1/assistants/${id}`, key)).name, "Smoke");
    paste(second.curl);
    await endsWell(second);
  } finally {
    postgres.kill("SIGINT");
    await once(postgres, "exit");
  }
}

/**
 * The packed package, which npx runs in a folder whose name has a space, as an ordinary user too, and a built checkout with
 * the same packages: all without those for development.
 */
async function packaged() {
  const cwd = join(emptyFolder(), "an empty folder");
  mkdirSync(cwd);
  const options = { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", cwd], options).trim();
  const cache = cacheOfNpx();
  const npx = ["npx", "--yes", "--prefer-offline", `./${packed}`];
  const env = { PORT: String(await freePort()), npm_config_cache: cache };
  const version = execFileSync(npx[0], [...npx.slice(1), "--version"], {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  assert.match(version, /^\d+\.\d+\.\d+\n$/);
  const [installed] = readdirSync(join(cache, "_npx")).map((name) =>
    join(cache, "_npx", name, "node_modules"),
  );
  assert(!existsSync(join(installed, "esbuild")), "no build tools are installed");
  say(`npm pack; npx ./${packed} installs it`);
  const first = await start(env, { cwd, words: npx });
  assert.match(first.output, new RegExp(`Data +embedded PostgreSQL in ${cwd}/\\.data,`));
  assert(first.output.includes(`npx ./${packed} connect`), "the output names commands of the package");
  const key = /SECRET +(\S+)/.exec(first.output)[1];
  const id = await lookAround(first, key);
  await answer(`${first.url}/docs/deployment`, { headers: { Accept: "text/html" } });
  await readsDocuments(first, key, id);
  const program = join(installed, ".bin/parley");
  await createOrganization(first, env, { cwd, words: [program] });
  const backup = { cwd, env: { ...process.env, ...env }, encoding: "utf8" };
  assert.match(execFileSync(program, ["backup", "copy"], backup), /copy/);
  process.kill(first.npm.pid, "SIGTERM");
  await until(async () => !(await fetch(first.url).catch(() => false)), "a signal to npx ends the server");
  await until(() => !existsSync(join(cwd, ".data/postgres/postmaster.pid")), "the database ends with it");
  say("the package answers, reads documents, creates an organization, makes a backup and stops with npx");
  if (isRoot) await ordinaryUser(program);

  for (const name of ["src/cli", "package.json"])
    cpSync(join(ROOT, name), join(cwd, name), { recursive: true });
  symlinkSync(installed, join(cwd, "node_modules"));
  symlinkSync(join(ROOT, "dist"), join(cwd, "dist"));
  await endsWell(await start(env, { cwd }));
  say("npm start runs the build of a checkout without the packages that build it");
}

/** A cache for npm in which npx has installed nothing, with the downloads of the user's cache. */
function cacheOfNpx() {
  const cache = emptyFolder();
  chmodSync(cache, 0o755); // other users run what is installed in it
  const own = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim();
  mkdirSync(join(own, "_cacache"), { recursive: true });
  symlinkSync(join(own, "_cacache"), join(cache, "_cacache"));
  return cache;
}

/** An ordinary user, in a folder of its own, runs a package that root has installed. */
async function ordinaryUser(program) {
  const user = identity();
  const home = emptyFolder();
  chownSync(home, user.uid, user.gid);
  const env = { PORT: String(await freePort()), HOME: home };
  const server = await start(env, { cwd: home, words: [program], user });
  await lookAround(server, /SECRET +(\S+)/.exec(server.output)[1]);
  await endsWell(server);
  say(`the user ${user.uid} runs the package that root has installed`);
}

/** A document is read by a process that may read only the packages. */
async function readsDocuments({ url }, key, assistantId) {
  const form = new FormData();
  form.set("file", new Blob(["<p>We open at nine.</p>"], { type: "text/html" }), "hours.html");
  const headers = { "X-API-Key": key };
  const upload = await fetch(`${url}/rest/v1/files/upload`, { method: "POST", headers, body: form });
  const { id: fileId } = await upload.json();
  const attached = "files { status problem }";
  const attach = `mutation ($id: ID!, $fileId: ID!) { attachFile(assistantId: $id, fileId: $fileId) { ${attached} } }`;
  const variables = { id: assistantId, fileId };
  await json(`${url}/graphql`, key, { query: attach, variables });
  const query = `query ($id: ID!) { assistant(id: $id) { ${attached} } }`;
  await until(async () => {
    const { data } = await json(`${url}/graphql`, key, { query, variables: { id: assistantId } });
    const [{ status, problem }] = data.assistant.files;
    assert.notEqual(status, "FAILED", problem);
    return status === "READY";
  }, "a document is read");
}

/** Programs that the image is made with; their paths can be moved into a folder. */
const MOVABLE = /^(cp|install|ln|mkdir|mv|npm|rm|tar) /;

/** The files of the image: its build context and RUN lines in folders, with the packages of this checkout for `npm ci`. */
function buildImage(file, context, image) {
  for (const folder of ["usr/local/lib", "usr/local/bin", "opt"])
    mkdirSync(join(image, folder), { recursive: true });
  const sent = readFileSync(join(ROOT, "deploy/container/Containerfile.dockerignore"), "utf8");
  for (const [, name] of sent.matchAll(/^!(.+)/gm))
    cpSync(join(ROOT, name), join(context, name), {
      recursive: true,
      filter: (path) => !path.endsWith("/generated"),
    });
  const own = realpathSync(join(ROOT, "node_modules")); // it may be a link, behind which npm would remove packages
  const packages = join(context, "node_modules");
  mkdirSync(packages);
  // Hard links where the folders are on one disk; npm would overwrite one file instead of replacing it.
  const copy = 'cp -al "$0"/* "$0/.bin" "$1" 2>/dev/null || cp -a "$0"/* "$0/.bin" "$1"';
  execFileSync("sh", ["-c", copy, own, packages]);
  cpSync(join(own, ".package-lock.json"), join(packages, ".package-lock.json"));

  const [install, ...lines] = [...file.replaceAll(/\\\n/g, "").matchAll(/^RUN (.*)/gm)].map(
    ([, line]) => line,
  );
  assert.match(install, /^npm ci /);
  for (const line of lines) {
    for (const command of line.split("&&")) assert.match(command.trim(), MOVABLE);
    const moved = line.replaceAll(/(?<= )\/(?=\w)/g, `${image}/`);
    // A line that would change this machine is not run.
    assert.doesNotMatch(moved.replaceAll(`${image}/`, ""), /(?<![\w.*-])[/~$]|\.\./);
    // Only root can give a folder to another user.
    const words = isRoot ? moved : moved.replaceAll(/-[og] \d+ /g, "");
    execFileSync("sh", ["-c", words], { cwd: context, stdio: ["ignore", "ignore", "inherit"] });
  }
}

const isRoot = process.getuid() === 0;

/**
 * The image, without an engine, and a built checkout with the packages that the image has. Of root, the server gets the
 * user of the image, who can write in the folders of its data and for temporary files only.
 */
async function image() {
  const file = readFileSync(join(ROOT, "deploy/container/Containerfile"), "utf8");
  const [context, image] = [emptyFolder(), emptyFolder()];
  const began = Date.now();
  buildImage(file, context, image);
  for (const tool of ["esbuild", "typescript", "jest"])
    assert(!existsSync(join(image, "app/node_modules", tool)), `${tool} is not in the image`);
  say(`the RUN lines of the Containerfile: ${Math.round((Date.now() - began) / 1_000)} s`);

  chmodSync(image, 0o755);
  const [, uid, gid] = /^USER (\d+):(\d+)$/m.exec(file);
  const user = isRoot ? { uid: Number(uid), gid: Number(gid) } : {};
  const [, settings] = /^ENV (.*)/m.exec(file);
  const { DATA_DIR } = Object.fromEntries(settings.split(" ").map((setting) => setting.split("=")));
  const env = { DATA_DIR: join(image, DATA_DIR), HOST: "127.0.0.1", PORT: String(await freePort()) };
  const [program] = JSON.parse(/^ENTRYPOINT (.*)/m.exec(file)[1]);
  const words = [join(image, "usr/local/bin", program)];
  const first = await start(env, { cwd: env.DATA_DIR, words, user });
  await lookAround(first, /SECRET +(\S+)/.exec(first.output)[1]);
  const [check, ...options] = JSON.parse(/^HEALTHCHECK .* CMD (.*)/m.exec(file)[1]);
  const paths = options.map((path) => join(image, path));
  execFileSync(check, paths, { env: { ...process.env, ...env } });
  await endsWell(first);
  say(`the server runs from the files of the image, as ${isRoot ? `the user ${uid}` : "this user"}`);

  symlinkSync(join(image, "app/node_modules"), join(context, "node_modules"));
  utimesSync(join(context, "package-lock.json"), new Date(), new Date()); // the build is older
  const checkout = { DATA_DIR: emptyFolder(), HOST: "127.0.0.1", PORT: String(await freePort()) };
  await endsWell(await start(checkout, { cwd: context }));
  say("npm start runs the build of a checkout with the packages of the image");
}

const ways = { "--external": external, "--package": packaged, "--image": image };
let code = 0;
try {
  await (ways[process.argv[2]] ?? embedded)();
} catch (error) {
  console.error(`The smoke test failed: ${error.message}`);
  code = 1;
}
for (const npm of running) process.kill(-npm.pid, "SIGKILL");
if (running.size > 0) await sleep(3_000); // its PostgreSQL stops by itself
for (const folder of folders) rmSync(folder, { recursive: true, force: true });
process.exit(code);
