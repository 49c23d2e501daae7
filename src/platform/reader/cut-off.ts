// Loaded into the process that reads documents before anything else: takes away what reaches other machines and other
// processes. Node's permissions deny files, programs, threads, native code and the inspector, but not the network. So the
// native functions beneath all of its modules are deleted: whatever code gets hold of finds nothing there. Where Node is
// built otherwise than expected here, the process ends at once.
import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import traces from "node:trace_events";
import v8 from "node:v8";
import wasi from "node:wasi";

type Native = Record<string, unknown>;

/** Deletes what only this kind of handle can do: what is left reads and writes what is open already. */
function disarm(kind: string, handle: unknown): void {
  const prototype = Object.getPrototypeOf(handle) as Native;
  if ((prototype.constructor as { name?: string } | undefined)?.name !== kind)
    throw new Error(`This Node's ${kind} could not be found.`);
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
    if (typeof value === "function" && name !== "constructor") delete prototype[name];
}

/** What an object of Node keeps behind its symbols. */
const hidden = (owner: object): unknown[] =>
  Object.getOwnPropertySymbols(owner).map((symbol) => (owner as Record<symbol, unknown>)[symbol]);

const refuse = (): never => {
  throw new Error("There is no network here.");
};
for (const names of [dns, dns.promises]) Object.assign(names, { lookup: refuse, lookupService: refuse });

// What Node writes by itself, its permissions do not cover: traces, snapshots, logs of the engine, files by WASI.
const refuseFiles = (): never => {
  throw new Error("No files are written here.");
};
Object.assign(traces, { createTracing: refuseFiles });
Object.assign(wasi, { WASI: refuseFiles });
for (const name of ["setFlagsFromString", "writeHeapSnapshot", "setHeapSnapshotNearHeapLimit"])
  Object.assign(v8, { [name]: refuseFiles });
Object.defineProperty(process, "report", { value: undefined });
syncBuiltinESMExports();
disarm("ChannelWrap", (new dns.Resolver() as unknown as Native)._handle);

// Each has its handle before an address is known; this one never is.
const stream = new net.Socket().connect({ host: "nowhere", port: 1, lookup: () => undefined });
disarm("TCP", (stream as unknown as Native)._handle);
const datagrams = dgram.createSocket("udp4");
const state = hidden(datagrams).find((value): value is Native =>
  Object.hasOwn(Object(value) as object, "handle"),
);
disarm("UDP", state?.handle);
const [input] = [process.stdin, process.stdout, process.stderr]; // all opened, as that is taken away too
disarm("Pipe", (input as unknown as Native)._handle);

for (const name of ["kill", "_kill", "_debugProcess"]) delete (process as unknown as Native)[name];
