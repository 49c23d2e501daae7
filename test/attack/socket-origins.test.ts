import { once } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { WebSocket } from "ws";
import { useApp } from "../support/app";

const running = useApp();

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Opens a WebSocket with these headers. @returns the first message, or the code that it is closed with */
async function connect(headers: Headers, payload: object): Promise<unknown> {
  const url = `${running.url.replace("http", "ws")}/graphql`;
  const socket = new WebSocket(url, "graphql-transport-ws", { headers: headers as Record<string, string> });
  const answered = new Promise((resolve, reject) => {
    socket.on("message", (data: Buffer) => resolve((JSON.parse(data.toString()) as { type: string }).type));
    socket.on("close", resolve).on("error", reject);
  });
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "connection_init", payload }));
  try {
    return await answered;
  } finally {
    socket.close();
  }
}

const ORIGINS: Readonly<Record<string, Headers>> = {
  "no origin": {},
  "its own origin": { Origin: "http://127.0.0.1" },
  "another site": { Origin: "https://evil.example" },
  "the origin null": { Origin: "null" },
  "two origins": { Origin: ["https://evil.example", "http://127.0.0.1"] },
};

describe.each(Object.entries(ORIGINS))("a WebSocket from a page with %s", (_, origin) => {
  test("is accepted with a credential of its own, because no browser adds one", async () => {
    expect(await connect(origin, { "X-API-Key": running.secretKey })).toBe("connection_ack");
  });

  test("has no credential but that of its first message", async () => {
    const { token } = await running.api.post("/rest/v1/organization/token", {}, 200);
    for (const headers of [
      {},
      { "X-API-Key": running.secretKey },
      { Authorization: `Bearer ${token}` },
      { Cookie: `X-API-Key=${running.secretKey}; token=${token}; Authorization=Bearer ${token}` },
    ] as Headers[])
      expect([headers, await connect({ ...origin, ...headers }, {})]).toEqual([headers, 4403]);
  });
});
