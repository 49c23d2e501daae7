// Builds the program that renders the chart, and installs the schemas of Kubernetes outside the project's dependencies. Ends
// with 1 and says what to install if Go or a package is missing.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";

/** Where Debian installs Go packages. */
const GOPATH = "/usr/share/gocode";
const PACKAGES = {
  "golang-github-masterminds-sprig-dev": "github.com/Masterminds/sprig",
  "golang-k8s-sigs-yaml-dev": "sigs.k8s.io/yaml",
};

const missing = Object.entries(PACKAGES).flatMap(([name, path]) =>
  existsSync(`${GOPATH}/src/${path}`) ? [] : [name],
);
if (spawnSync("go", ["version"]).status !== 0) missing.unshift("golang-go");
if (missing.length > 0) {
  console.error(`Rendering the chart needs Go with two packages: apt-get install ${missing.join(" ")}`);
  process.exit(1);
}
const FOLDER = "dist/chart";
mkdirSync(FOLDER, { recursive: true });
cpSync("test/chart/package.json", `${FOLDER}/package.json`);
run("go", ["build", "-o", `${FOLDER}/render`, "test/chart/render.go"], { GO111MODULE: "off", GOPATH });
const options = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--prefer-offline"];
// The packages are tested with Node 22; their types and schemas also work with 20.
run("npm", ["install", "--prefix", FOLDER, "--loglevel=error", ...options]);

function run(program, args, env = {}) {
  const { status } = spawnSync(program, args, { env: { ...process.env, ...env }, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
