// The PostgreSQL that Debian has installed. CommonJS, because tests and the smoke test, which is plain Node, use it.
const { execFileSync, spawn } = require("node:child_process");
const { existsSync, readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const ROOT = "/usr/lib/postgresql";
/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;

exports.identity = () => (process.getuid() === 0 ? { uid: NOBODY, gid: NOBODY } : {});

exports.programs = () => {
  const versions = existsSync(ROOT) ? readdirSync(ROOT).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(ROOT, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
};

exports.runProgram = (name, ...args) =>
  execFileSync(join(exports.programs(), name), args, {
    ...exports.identity(),
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
  });

exports.createCluster = (data) =>
  exports.runProgram(
    "initdb",
    ...["-D", data, "-U", "parley", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"],
  );

exports.startCluster = (data, port, settings = {}) => {
  const all = { listen_addresses: "127.0.0.1", unix_socket_directories: "", ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const program = join(exports.programs(), "postgres");
  const options = { ...exports.identity(), cwd: "/", stdio: "ignore" };
  return spawn(program, ["-D", data, "-p", String(port), ...flags], options);
};

exports.isReady = (data) => {
  const lock = join(data, "postmaster.pid");
  return existsSync(lock) && /^ready/m.test(readFileSync(lock, "utf8"));
};
