import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startConfined } from "../../src/platform/providers/confined-process";

/** Counts connections and datagrams that it receives by TCP, a Unix socket and UDP. */
const canary = {
  reached: 0,
  tcp: 0,
  udp: 0,
  path: join(mkdtempSync(join(tmpdir(), "canary-")), "socket"),
  root: process.cwd(),
  folder: mkdtempSync(join(tmpdir(), "canary-")),
  target: "",
};
canary.target = join(canary.folder, "target");
const servers: (Server | ReturnType<typeof createSocket>)[] = [];

beforeAll(async () => {
  const heard = () => void canary.reached++;
  const [tcp, unix, udp] = [
    createServer(heard),
    createServer(heard),
    createSocket("udp4").on("message", heard),
  ];
  await Promise.all([
    once(tcp.listen(0, "127.0.0.1"), "listening"),
    once(unix.listen(canary.path), "listening"),
    once(udp.bind(0, "127.0.0.1"), "listening"),
  ]);
  canary.tcp = (tcp.address() as AddressInfo).port;
  canary.udp = udp.address().port;
  servers.push(tcp, unix, udp);
});
afterAll(() => servers.forEach((server) => server.close()));

/** Runs code in the process that reads documents. @returns its output and result */
async function inside(code: string): Promise<string> {
  const program = `
    const canary = ${JSON.stringify(canary)};
    const { once } = require("events");
    const attempt = async () => { ${code} };
    const told = (text) => process.stdout.write(text, () => process.exit(0));
    process.on("uncaughtException", (error) => told("refused: " + error));
    process.on("beforeExit", () => told("nothing came of it"));
    attempt().then(() => told("done"), (error) => told("refused: " + (error.cause ?? error)));`;
  const child = startConfined(["--eval", program], 256 * 1_048_576);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.end();
  await once(child, "close");
  return output;
}

describe("the process that reads documents, whatever a document makes it do, cannot", () => {
  test.each([
    ["connect", `await once(require("net").connect(canary.tcp, "127.0.0.1"), "connect")`],
    [
      "connect with an import",
      `await once((await import("node:net")).connect(canary.tcp, "127.0.0.1"), "connect")`,
    ],
    [
      "connect with the class of its output stream",
      `await once(new process.stdout.constructor().connect(canary.tcp, "127.0.0.1"), "connect")`,
    ],
    ["connect to another process here", `await once(require("net").connect(canary.path), "connect")`],
    ["fetch", `await fetch("http://127.0.0.1:" + canary.tcp)`],
    ["ask by HTTP", `await once(require("http").get("http://127.0.0.1:" + canary.tcp), "response")`],
    ["speak TLS", `await once(require("tls").connect(canary.tcp, "127.0.0.1"), "secureConnect")`],
    ["speak HTTP/2", `await once(require("http2").connect("http://127.0.0.1:" + canary.tcp), "connect")`],
    [
      "send datagrams",
      `await new Promise((sent) => require("dgram").createSocket("udp4").send("x", canary.udp, "127.0.0.1", sent))`,
    ],
    ["listen", `await once(require("net").createServer().listen(0), "listening")`],
    ["resolve names", `await require("util").promisify(require("dns").lookup)("localhost")`],
    ["resolve names with an import", `await (await import("node:dns/promises")).lookup("localhost")`],
    [
      "ask a name server",
      `const resolver = new (require("dns").promises.Resolver)();
       resolver.setServers(["127.0.0.1:" + canary.udp]);
       await resolver.resolve4("secret.example")`,
    ],
    ["access Node's own bindings", `process.binding("tcp_wrap")`],
    ["start a program", `require("child_process").execFileSync("true")`],
    ["start a program later", `await require("util").promisify(require("child_process").execFile)("true")`],
    ["start a thread", `new (require("worker_threads").Worker)("1", { eval: true })`],
    ["signal another process", `process.kill(process.ppid, 0)`],
    ["use the inspector", `new (require("inspector").Session)().connect()`],
    ["load native code", `process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6")`],
    ["read the machine's files", `require("fs").readFileSync("/etc/passwd")`],
    ["read the service's settings", `require("fs").readFileSync(canary.root + "/.env")`],
    ["write a file", `require("fs").writeFileSync(canary.root + "/dist/x", "x")`],
    ["write a file where it runs", `require("fs").writeFileSync("x", "x")`],
  ])("%s", async (_what, code) => {
    expect(await inside(code)).toMatch(/^refused: |^nothing came of it$/);
    expect(canary.reached).toBe(0);
  });

  /** Files that Node writes by itself, without checking its permissions. */
  test.each([
    [
      "traces",
      `require("trace_events").createTracing({ categories: ["node", "v8"] }).enable(); JSON.parse("1")`,
    ],
    ["a heap snapshot", `require("v8").writeHeapSnapshot()`],
    ["a heap snapshot at a path", `require("v8").writeHeapSnapshot(canary.target)`],
    [
      "a heap snapshot when memory runs out",
      `require("v8").setHeapSnapshotNearHeapLimit(1); const all = []; for (;;) all.push({})`,
    ],
    ["a report", `process.report.writeReport()`],
    ["a report at a path", `process.report.directory = canary.folder; process.report.writeReport("target")`],
    [
      "a trace of its compiler",
      `const v8 = require("v8");
      v8.setFlagsFromString("--trace-turbo"); v8.setFlagsFromString("--trace-turbo-path=" + canary.folder);
      v8.setFlagsFromString("--allow-natives-syntax");
      new Function("function hot(x) { return x + 1 } %PrepareFunctionForOptimization(hot); hot(1); %OptimizeFunctionOnNextCall(hot); hot(2)")()`,
    ],
    [
      "a log of its engine",
      `require("v8").setFlagsFromString("--logfile=" + canary.target); require("v8").setFlagsFromString("--log-all")`,
    ],
    [
      "by WASI",
      `const { WASI } = require("wasi"); new WASI({ version: "preview1", preopens: { "/": canary.folder } })`,
    ],
  ])("leave %s behind", async (_what, code) => {
    const before = [canary.root, canary.folder, tmpdir()].map((folder) => readdirSync(folder));
    await inside(code);
    const ofNode = /trace|report|heap|turbo|target|isolate|\.log$/i;
    const after = [canary.root, canary.folder, tmpdir()].map((folder) => readdirSync(folder));
    after.forEach((names, at) =>
      expect(names.filter((name) => ofNode.test(name) && !before[at]!.includes(name))).toEqual([]),
    );
    expect(existsSync(canary.target)).toBe(false);
  });

  test("be kept from running ordinary code", async () => {
    expect(await inside("JSON.parse('1')")).toBe("done");
  });
});
