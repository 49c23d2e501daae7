// Builds what changed since the last build, then runs the named program: `node src/cli/launch.mjs main`. With
// --server instead of a program, existing builds of browser programs are not updated. A program may also be a script of
// its own: `./test/bench/run.mjs`.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { preflight, thisUser } from "./preflight.mjs";

const { commandOf, EX_CONFIG, helpIfAsked } = createRequire(import.meta.url)("./help.cjs");
const [, , named, ...given] = process.argv;
helpIfAsked(named, given);
const [program, options] = commandOf(named, given);

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
process.chdir(root);
/** Build steps with their sources; each has its own stamp file. Types are checked by `npm run typecheck`. */
const BROWSER = ["explorer", "dashboard", "widget"];
const PUBLISH = "src/web/publish.mjs";
const STEPS = [
  {
    name: "server",
    sources: ["schema", "src", "rest-compat", "knexfile.ts"],
    commands: [["src/cli/transpile.mjs"], ["src/cli/bundle/bundle.mjs"]],
  },
  ...BROWSER.map((name) => ({
    name,
    sources: [`src/web/${name}`, PUBLISH],
    commands: [[`src/web/${name}/build.mjs`]],
  })),
  {
    name: "documentation",
    sources: [
      "docs",
      "src/web/documentation",
      "CONTRIBUTING.md",
      "CHANGELOG.md",
      "rest-compat/ROUTES.md",
      PUBLISH,
    ],
    commands: [["src/web/documentation/build.mjs"]],
  },
];
const SHARED = ["tsconfig.json", "package-lock.json"];
const stampOf = (name) => join("dist", `.built-${name}`);

/** What a step reads. Browser sources do not make the server's build stale. */
const sourcesOf = ({ sources }) => [
  ...sources.flatMap((path) =>
    path === "src"
      ? readdirSync("src")
          .filter((it) => it !== "web")
          .map((it) => join("src", it))
      : path,
  ),
  ...SHARED,
];

/** A folder changes when a file is added, renamed or removed. */
const newest = (path) => {
  const entry = statSync(path);
  const inside = entry.isDirectory() ? readdirSync(path).map((name) => newest(join(path, name))) : [];
  return Math.max(entry.mtimeMs, ...inside);
};

/** Whether sources are newer than the build. */
function isStale(step) {
  if (!existsSync(stampOf(step.name))) return true;
  const built = statSync(stampOf(step.name)).mtimeMs;
  return sourcesOf(step).some((path) => newest(path) > built);
}

/** The files of a path, in an order that all machines share. */
const filesOf = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .flatMap((name) => filesOf(join(path, name)))
    : [path];

/** What a step's sources contain: a copy to another machine keeps this, but not always the times of files. */
function digestOf(step) {
  const hash = createHash("sha256");
  for (const path of sourcesOf(step).sort().flatMap(filesOf))
    hash.update(`${path}\0`).update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}

/** Whether a build was made of other sources than those beside it. A folder may also contain the build alone. */
const isOfOtherSources = (step) =>
  [...step.sources, ...SHARED].every(existsSync) &&
  existsSync(stampOf(step.name)) &&
  readFileSync(stampOf(step.name), "utf8") !== digestOf(step);

/** Stops with instructions if this user cannot create the build, or overwrite that of another user. */
function refuseForeignBuild() {
  const dist = join(root, "dist");
  const user = thisUser();
  if (!existsSync(dist)) {
    if (isWritable(root)) return;
    console.error(
      `Parley cannot be built: the user ${user} may not create the folder ${dist}.\nTo create it for that user, run as an administrator:\n  sudo install -d -o ${user} '${dist}'`,
    );
  } else {
    if ([dist, ...STEPS.map(({ name }) => stampOf(name))].filter(existsSync).every(isWritable)) return;
    console.error(
      `The build in ${dist} belongs to another user, probably because Parley was started as root.\nTo give it to the user ${user}, run as an administrator:\n  sudo chown -R ${user} '${dist}'`,
    );
  }
  process.exit(EX_CONFIG);
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Memory in bytes that is enough for all steps at once. */
const AMPLE_MEMORY = 1.5 * 2 ** 30;
/** Memory in bytes of this machine or, if it is less, of this container. */
const memory = () => Math.min(totalmem(), process.constrainedMemory() || Infinity);

async function build(steps) {
  refuseForeignBuild();
  process.stderr.write("Building Parley (once after each change) …\n");
  // At once, because most of a step runs on one core; one after another where the memory is only enough for one.
  if (memory() >= AMPLE_MEMORY) return void (await Promise.all(steps.map((step) => run(step))));
  // esbuild, a program in Go, then collects its garbage sooner.
  for (const step of steps) await run(step, { GOGC: "25" });
}

/** @param variables environment variables that an operator may replace */
async function run(step, variables = {}) {
  const { name, commands } = step;
  const env = { ...variables, ...process.env };
  for (const command of commands) {
    // Build output goes to standard error, because standard output may be read by a program.
    const [status] = await once(spawn(process.execPath, command, { env, stdio: ["ignore", 2, 2] }), "exit");
    if (status !== 0) process.exit(status ?? 1);
  }
  writeFileSync(stampOf(name), digestOf(step));
}

const serverOnly = program === "--server";
const isWanted = ({ name }) => !serverOnly || name === "server" || !existsSync(stampOf(name));
// `npm ci --omit=dev` installs TypeScript, which packages of the server need, but not esbuild.
const canBuild = ["typescript", "esbuild"].every((name) => existsSync(join("node_modules", name)));
const refuse = (message) => {
  console.error(message);
  process.exit(EX_CONFIG);
};
if (!existsSync("node_modules/pg"))
  refuse(`The packages of Parley are not installed in ${root}. Run \`npm ci\` first.`);
const cannotBuild = (problem) =>
  refuse(
    `${problem}, and the packages that build it are not installed: \`npm ci --omit=dev\` leaves them out.\nRun \`npm ci && npm run build\`. Afterwards, \`npm prune --omit=dev\` removes these packages.`,
  );
if (!canBuild && !existsSync(stampOf("server"))) cannotBuild(`Parley is not built in ${root}`);
// Without build tools the existing build runs if it is that of the sources.
const others = canBuild ? [] : STEPS.filter(isOfOtherSources).map(({ name }) => name);
if (others.length > 0)
  cannotBuild(`The build in ${root} was made from other sources than those beside it (${others.join(", ")})`);
const stale = canBuild ? STEPS.filter((it) => isWanted(it) && isStale(it)) : [];
if (stale.length > 0 && program === "main") await preflight();
if (stale.length > 0) await build(stale);
if (program?.endsWith(".mjs")) {
  process.argv = [process.argv[0], join(root, program), ...options];
  await import(pathToFileURL(join(root, program)).href);
} else if (program && !serverOnly) {
  process.argv = [process.argv[0], "run.cjs", program, ...options];
  createRequire(import.meta.url)("./bundle/run.cjs");
}
