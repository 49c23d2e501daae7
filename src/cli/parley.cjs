#!/bin/sh
//usr/bin/env true; exec node --min-semi-space-size=32 --max-semi-space-size=32 --heap-growing-percent=50 "$0" "$@"
"use strict";
// The program `parley` of the package: `parley` starts the server, `parley backup DIR` runs a command. The shell reads the
// first two lines and starts Node with the flags of `npm start`; to Node, the second line is a comment.
const { readFileSync } = require("node:fs");
const { join, sep } = require("node:path");
const COMMANDS = require("./commands.json");
const { EX_CONFIG, FILES, helpOf, isHelp, OPERATORS } = require("./help.cjs");

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19) || major === 21 || (major === 22 && minor < 13)) {
  console.error(`Parley needs Node 20.19 or later (of 22: 22.13), and this is ${process.version}.`);
  process.exit(EX_CONFIG);
}

const PARENT_CHECK_MS = 250;
const root = join(__dirname, "../..");
const { version } = require(join(root, "package.json"));
const [first = "start", ...others] = process.argv.slice(2);
/** `parley help apply` is `parley apply --help`. */
const [name, ...options] = first === "help" && others.length > 0 ? [others[0], "--help"] : [first, ...others];

process.env.PARLEY_COMMAND = ownCommand();
const { commands: OF_FILES } = COMMANDS[FILES];
const isOfFiles = Object.hasOwn(OF_FILES, name);
const program = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : isOfFiles ? FILES : undefined;
const asksForHelp = options.some(isHelp);

const INSTALLED = "platform/installed";
const { programs } = require("./bundle/load.cjs").load(asksForHelp || !program ? INSTALLED : program);
const { asInstalled } = programs[INSTALLED]();

if (["-h", "--help", "help"].includes(name)) console.log(overview());
else if (["-v", "--version", "version"].includes(name)) console.log(version);
else if (!program) {
  const isSetting = name.startsWith("-");
  const unknown = isSetting
    ? `Parley has no option "${name}": settings are variables of the environment or of the file .env, such as PORT=4001.`
    : `Parley has no command "${name}".`;
  console.error(`${unknown}\n\n${overview()}`);
  process.exitCode = isSetting ? EX_CONFIG : 1;
} else if (asksForHelp) console.log(helpOf(program, isOfFiles ? name : undefined, asInstalled));
else run(isOfFiles ? [name, ...options] : options);

function run(options) {
  for (const method of ["log", "error"]) {
    const print = console[method];
    // Lines of JSON are data.
    console[method] = (text) => print(text.startsWith("{") ? text : asInstalled(text));
  }
  process.argv = [process.argv[0], program, ...options];
  programs[program]();
  if (program === "main" && process.env.npm_command === "exec") stopWithParent();
}

/** npx starts a shell that starts this. A signal to npx ends the shell, which does not pass it on. */
function stopWithParent() {
  const parent = process.ppid;
  const stop = () => process.ppid !== parent && process.kill(process.pid, "SIGTERM");
  setInterval(stop, PARENT_CHECK_MS).unref();
}

/** How the operator has run this: by npx from the package that its folder names, or as a program of the system. */
function ownCommand() {
  const [folder, inside] = root.split(`${sep}node_modules${sep}`);
  if (process.env.npm_command !== "exec" || inside === undefined) return "parley";
  try {
    const [spec] = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))._npx.packages;
    return `npx ${spec}`;
  } catch {
    return "npx parley"; // installed in the folder of the operator
  }
}

function overview() {
  const commands = Object.entries(OPERATORS).map(([script, program]) => [script, COMMANDS[program]]);
  const rows = [...commands, ...Object.entries(OF_FILES)].map(
    ([script, { effect }]) => `  ${script.padEnd(16)}${effect.split(/(?<=\.) /, 1)[0]}`,
  );
  return asInstalled(
    [
      "Usage: npm start [COMMAND] [OPTIONS]",
      "",
      "Commands:",
      ...rows,
      "",
      "COMMAND --help describes one. Without a command, the server starts.",
    ].join("\n"),
  );
}
