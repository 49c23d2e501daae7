"use strict";
// What `--help` prints. It is known without a build, settings or packages.
const COMMANDS = require("./commands.json");
const { scripts } = require("../../package.json");

/** The program with the commands for files. */
const FILES = "cli/files";

const WIDTH = 100;
/** Longest name beside which its description begins. */
const MAX_NAME = 26;
const SETTINGS = { "DATABASE_URL, …": "settings of the server, also from .env; docs/settings.md lists them" };
const EXIT_CODES = { 0: "success", 1: "an error, which standard error names" };
/** As in src/platform/mistake.ts, for programs that run before the build. */
exports.EX_CONFIG = 78;
/** The exit code that programs with the settings of a server add. */
const MISTAKE = { [exports.EX_CONFIG]: "a mistake that only you can correct, such as an invalid setting" };

/**
 * The text about a program.
 * @param name of one of its commands, if it has several
 * @param named puts the names of commands into a text
 */
exports.helpOf = (program, name, named = (text) => text) => {
  const whole = COMMANDS[program] ?? COMMANDS.build;
  const command = JSON.parse(named(JSON.stringify(name === undefined ? whole : whole.commands[name])));
  const { usage, effect, settings, exit, example } = command;
  // A text that a command leaves out (null) is that of the program.
  const texts = (kind) =>
    Object.fromEntries(
      Object.entries(command[kind] ?? {}).map(([entry, text]) => [entry, text ?? whole[kind][entry]]),
    );
  return [
    `Usage: ${usage}`,
    wrapped(effect, 0),
    ...table("Arguments", texts("arguments")),
    ...table("Options", texts("options")),
    ...table("Environment", { ...texts("environment"), ...(settings && SETTINGS) }),
    ...table("Exit codes", { ...EXIT_CODES, ...exit, ...(settings && MISTAKE) }),
    `Example:\n  ${example}`,
  ].join("\n\n");
};

/** The commands of operators: the program of each, by its name in package.json. */
exports.OPERATORS = Object.fromEntries(
  Object.entries(scripts).flatMap(([script, text]) => {
    const [, program] = /launch\.mjs ([\w/-]+)$/.exec(text) ?? [];
    return program === FILES ||
      COMMANDS[program] === undefined ||
      COMMANDS[program].effect.startsWith("For developers")
      ? []
      : [[script, program]];
  }),
);

/** The program that runs a command, and its options: `npm run parley -- import` is `npm run import --`. */
exports.commandOf = (program, options) =>
  program === FILES && Object.hasOwn(exports.OPERATORS, options[0] ?? "")
    ? [exports.OPERATORS[options[0]], options.slice(1)]
    : [program, options];

/** Prints the help of a program or of the command that is named, and ends the process, if the options ask for it. */
exports.helpIfAsked = (program, options) => {
  const { commands, usage } = COMMANDS[program] ?? {};
  if (![program, ...options].some(isHelp) && !(commands && options[0] === "help")) return;
  const name = commands && (options.find((one) => Object.hasOwn(commands, one)) ?? wordIn(options));
  const other = Object.hasOwn(exports.OPERATORS, name ?? "");
  if (name !== undefined && !other && !Object.hasOwn(commands, name)) {
    console.error(`Parley has no command "${name}".\nUsage: ${usage}`);
    process.exit(1);
  }
  console.log(other ? exports.helpOf(exports.OPERATORS[name]) : exports.helpOf(program, name));
  process.exit(0);
};

/** The word in the place of a command, which follows a word that asks for help. */
const wordIn = (options) => {
  const [first] = options.filter((one) => one !== "help" && !isHelp(one));
  return first?.startsWith("-") ? undefined : first;
};

const isHelp = (one) => one === "--help" || one === "-h";
exports.isHelp = isHelp;
exports.FILES = FILES;

function table(title, entries) {
  const names = Object.keys(entries);
  if (names.length === 0) return [];
  const column = Math.max(...names.map((name) => name.length).filter((length) => length <= MAX_NAME), 0) + 4;
  const rows = names.map((name) => {
    const text = wrapped(entries[name], column);
    return name.length <= MAX_NAME
      ? `  ${name}`.padEnd(column) + text
      : `  ${name}\n${" ".repeat(column)}${text}`;
  });
  return [`${title}:\n${rows.join("\n")}`];
}

/** A text in lines that begin at a column, without the spaces before the first one. */
function wrapped(text, column) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== "" && column + line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join(`\n${" ".repeat(column)}`);
}
