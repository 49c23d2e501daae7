import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

interface Checker {
  readonly program: string;
  /** Name of the file that the program reads. */
  readonly file: string;
  readonly options: (file: string) => string[];
  /** Replaces what only exists on the machine that the snippet is for. */
  readonly adapted?: (code: string, folder: string) => string;
}

/** The certificate is in files that only exist on that machine, and its port may be in use here. */
const inNginx = (code: string, folder: string) => {
  const server = code
    .replace("listen 443 ssl;", `listen unix:${folder}/nginx.sock;`)
    .replaceAll(/^\s*ssl_certificate.*\n/gm, "");
  return `pid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${server}\n}\n`;
};

/** The tool that reads a language, for snippets that tests cannot run. */
export const CHECKERS: Readonly<Record<string, Checker>> = {
  nginx: { program: "nginx", file: "nginx.conf", options: (file) => ["-t", "-c", file], adapted: inNginx },
  caddyfile: {
    program: "caddy",
    file: "Caddyfile",
    options: (file) => ["validate", "--adapter", "caddyfile", "--config", file],
  },
  ini: {
    program: "systemd-analyze",
    file: "parley.service",
    options: (file) => ["verify", file],
    adapted: (code) => code.replace("/usr/bin/npm", process.execPath),
  },
  python: {
    program: "python3",
    file: "snippet.py",
    options: (file) => ["-m", "py_compile", file],
  },
  go: {
    program: "gofmt",
    file: "snippet.go",
    options: (file) => ["-e", file],
    adapted: (code) => (code.startsWith("package") ? code : `package snippet\n${code}`),
  },
};

export const isInstalled = (program: string): boolean =>
  [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"].some((folder) =>
    existsSync(join(folder, program)),
  );

/** Whether this machine has the tool of a language. */
export const hasChecker = (language: string): boolean => isInstalled(CHECKERS[language]!.program);

/** Checks a snippet by the tool of its language. @throws with the tool's output if it is wrong */
export async function checkByTool(language: string, code: string, folder: string): Promise<void> {
  const { program, file, options, adapted = (same: string) => same } = CHECKERS[language]!;
  const path = join(folder, file);
  writeFileSync(path, adapted(code, folder));
  const { stderr } = await promisify(execFile)(program, options(path), {
    cwd: folder,
    env: { PATH: `${process.env.PATH}${delimiter}/usr/sbin`, HOME: folder },
  });
  // systemd-analyze reports unknown settings and still ends with 0.
  if (stderr.includes(`${path}:`)) throw new Error(stderr);
}
