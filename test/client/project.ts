import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterTests, emptyFolder } from "../support/server";
import { snippetsOf } from "../support/snippets";

const ROOT = join(__dirname, "../..");
const run = promisify(execFile);

/** A project of a user, outside the repository, which has installed the packed package. */
export interface Project {
  readonly folder: string;
  /** Writes a file. @returns its path */
  write(name: string, text: string): string;
  /** Runs a file with Node.js. @returns its output */
  node(name: string, env?: Record<string, string>): Promise<string>;
  /** Runs a program of the repository in the project, such as a compiler. */
  tool(program: string, ...options: string[]): Promise<string>;
}

/** Packs the package, and installs it in an empty folder as the documentation says. */
export async function newProject(): Promise<Project> {
  const folder = emptyFolder(afterTests);
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const env = { ...process.env, npm_config_update_notifier: "false" };
  write("package.json", '{ "name": "project", "private": true, "type": "module" }');
  await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: ROOT, env });
  const install = snippetsOf("docs/clients.md")
    .find(({ code }) => code.startsWith("npm install"))!
    .code.trim();
  const options = "--silent --prefer-offline --ignore-scripts --no-audit --no-fund";
  await run("sh", ["-c", `${install} ${options}`], { cwd: folder, env });
  const node = async (words: string[], more: Record<string, string> = {}) =>
    (await run(process.execPath, words, { cwd: folder, env: { ...env, ...more } })).stdout;
  return {
    folder,
    write,
    node: (name, more) => node([name], more),
    tool: (program, ...words) => node([join(ROOT, "node_modules", program), ...words]),
  };
}
