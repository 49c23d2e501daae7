import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterTest, emptyFolder, RUN, type Env } from "./server";
import { until } from "./until";

/** Whether this machine has the program that makes pseudo terminals: `script` of util-linux. */
export const HAS_TERMINALS = process.platform === "linux" && existsSync("/usr/bin/script");

export const CTRL_C = "\x03";
export const CTRL_D = "\x04";

/** A program at a pseudo terminal, as a person uses it. */
export function openTerminal(program: string, env: Env) {
  const cwd = emptyFolder();
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn("script", ["-qfec", `'${process.execPath}' '${RUN}' ${program}`, "/dev/null"], {
    env: { PATH, HOME, TMPDIR: tmpdir(), SHELL: "/bin/sh", TERM: "dumb", ...env },
    cwd,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  let read = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  const ended = once(child, "close").then(([code]: unknown[]) => code as number | null);
  afterTest(() => void child.kill("SIGKILL"));
  return {
    cwd,
    /** Everything that the terminal has shown. */
    shown: () => shown.replaceAll("\r\n", "\n"),
    /** Waits for a question that has not been answered, and types the answer. */
    async answer(question: string, typed: string): Promise<void> {
      await until(() => shown.includes(question, read));
      read = shown.indexOf(question, read) + question.length;
      child.stdin.write(typed.length === 1 && typed < " " ? typed : `${typed}\r`);
    },
    /** The exit code of the program. */
    ended: () => ended,
  };
}
