import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Parts of an assistant that are read after the others. */
const LATE = ["version", "voice"];

/**
 * A way to a server on which assistants change while they are first read: the answer has some parts from before the change,
 * and the version and others from after it.
 */
export async function tornReads(url: string, change: () => Promise<unknown>) {
  let isTorn = false;
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await request.toArray());
      const { "x-api-key": key = "", "content-type": type = "" } = request.headers;
      const ask = async () => {
        const answer = await fetch(`${url}${request.url}`, {
          method: request.method!,
          headers: { "X-API-Key": String(key), ...(type && { "Content-Type": type }) },
          ...(request.method === "POST" && { body }),
        });
        return { status: answer.status, text: await answer.text() };
      };
      const { status, text } = await ask();
      let sent = text;
      if (!isTorn && body.includes("voice {")) {
        isTorn = true;
        await change();
        sent = JSON.stringify(withLate(JSON.parse(text), JSON.parse((await ask()).text)));
      }
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(sent);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => void server.close(),
    isTorn: () => isTorn,
  };
}

function withLate(before: unknown, after: unknown): unknown {
  if (Array.isArray(before)) return before.map((one, index) => withLate(one, (after as unknown[])[index]));
  if (typeof before !== "object" || before === null) return before;
  const later = after as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(before).map(([name, value]) => [
      name,
      LATE.includes(name) ? later[name] : withLate(value, later[name]),
    ]),
  );
}
