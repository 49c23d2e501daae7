import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { start: string } };
/** The flags that `npm start` passes to Node. */
const FLAGS = scripts.start.match(/--\S+/g) ?? [];

/** A server of the installation that can be stopped and restarted at the same address. */
export class ServerProcess {
  /** Lines of its log at level error, by message. */
  readonly errors = new Map<string, number>();
  /** Exit codes and signals of unexpected exits. */
  readonly crashes: string[] = [];
  private child: ChildProcess | undefined;
  private isEnding = false;

  private constructor(
    readonly name: string,
    private readonly port: number,
    private readonly env: Readonly<Record<string, string>>,
    /** File with the server's log. */
    private readonly log: string,
  ) {}

  static async start(
    name: string,
    env: Readonly<Record<string, string>>,
    log: string,
  ): Promise<ServerProcess> {
    const server = new ServerProcess(name, await freePort(), env, log);
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts it and waits until it is ready. */
  async start(): Promise<void> {
    const { PATH = "", HOME = "" } = process.env;
    const child = spawn(process.execPath, [...FLAGS, "src/cli/bundle/run.cjs", "main"], {
      env: { PATH, HOME, ...this.env, PORT: String(this.port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    this.isEnding = false;
    child.once("exit", (code, signal) => {
      if (!this.isEnding) this.crashes.push(`server ${this.name} ended with ${code ?? signal}`);
    });
    child.stdout.resume();
    let rest = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      appendFileSync(this.log, text);
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.note(line);
    });
    while (!(await this.isReady())) {
      if (child.exitCode !== null) throw new Error(`server ${this.name} ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Sends a signal and waits until the process has ended. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    this.isEnding = true;
    child.kill(signal);
    await ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  async isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(3_000);
    return fetch(`${this.url}/health/ready`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Resident memory in MiB; NaN if it is not running. */
  memory(): number {
    if (this.child!.exitCode !== null || this.child!.signalCode !== null) return NaN;
    const status = readFileSync(`/proc/${this.child!.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
  }

  private note(line: string): void {
    let entry: { level?: number; msg?: string; err?: { message?: string } };
    try {
      entry = JSON.parse(line) as typeof entry;
    } catch {
      entry = { level: 50, msg: line.slice(0, 200) };
    }
    if ((entry.level ?? 0) < 50) return;
    const text = `${entry.msg ?? ""}: ${entry.err?.message ?? ""}`.slice(0, 160);
    this.errors.set(text, (this.errors.get(text) ?? 0) + 1);
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}
