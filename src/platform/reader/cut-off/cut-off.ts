// Loaded first into the process that reads documents: removes its access to the network and to other processes. Node's
// permissions deny files, programs, threads, native code and the inspector, but not the network. Therefore the native
// functions below Node's modules are deleted, so that no module can use them. If this version of Node has a different
// structure than expected, the process ends immediately.
import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import traces from "node:trace_events";
import v8 from "node:v8";
import wasi from "node:wasi";

type Native = Record<string, unknown>;

/** Deletes the methods that only this kind of native handle has. Open streams can still be read and written. */
function disarm(kind: string, handle: unknown): void {
  const prototype = Object.getPrototypeOf(handle) as Native;
  if ((prototype.constructor as { name?: string } | undefined)?.name !== kind)
    throw new Error(`Node's native class ${kind} was not found: this version of Node is not supported.`);
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
    if (typeof value === "function" && name !== "constructor") delete prototype[name];
}

/** Values that an object of Node stores under symbols. */
const symbolValues = (owner: object): unknown[] =>
  Object.getOwnPropertySymbols(owner).map((symbol) => (owner as Record<symbol, unknown>)[symbol]);

const refuse = (): never => {
  throw new Error("This process has no network access.");
};
for (const names of [dns, dns.promises]) Object.assign(names, { lookup: refuse, lookupService: refuse });

// Node's permissions do not cover files that Node writes itself: traces, heap snapshots, V8 logs, files through WASI.
const refuseFiles = (): never => {
  throw new Error("This process may not write files.");
};
Object.assign(traces, { createTracing: refuseFiles });
Object.assign(wasi, { WASI: refuseFiles });
for (const name of ["setFlagsFromString", "writeHeapSnapshot", "setHeapSnapshotNearHeapLimit"])
  Object.assign(v8, { [name]: refuseFiles });
Object.defineProperty(process, "report", { value: undefined });
syncBuiltinESMExports();
disarm("ChannelWrap", (new dns.Resolver() as unknown as Native)._handle);

// A socket has its handle before its address is resolved; the address of this one never is.
const stream = new net.Socket().connect({ host: "nowhere", port: 1, lookup: () => undefined });
disarm("TCP", (stream as unknown as Native)._handle);
const datagrams = dgram.createSocket("udp4");
const state = symbolValues(datagrams).find((value): value is Native =>
  Object.hasOwn(Object(value) as object, "handle"),
);
disarm("UDP", state?.handle);
const [input] = [process.stdin, process.stdout, process.stderr]; // opens all three: afterwards none can be opened
disarm("Pipe", (input as unknown as Native)._handle);

for (const name of ["kill", "_kill", "_debugProcess"]) delete (process as unknown as Native)[name];
