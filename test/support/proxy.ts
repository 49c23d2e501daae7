import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy to a database that can be made to hang, like a lost network, or to refuse connections. */
export interface Proxy {
  readonly url: string;
  /** Forwards nothing from now on, and keeps connections open. @param name only for connections that begin with it */
  hang(name?: string): void;
  goOn(): void;
  /** Closes every connection from now on, including new ones. */
  leave(): void;
  /** @param url where the database is now, if it moved */
  comeBack(url?: string): void;
  stop(): void;
}

export async function proxyTo(url: string): Promise<Proxy> {
  let target = new URL(url);
  const sockets = new Set<Socket>();
  /** First bytes of each connection, which include its application_name. */
  const openings = new Map<Socket, string>();
  let hangs = false;
  let isAway = false;
  const server = createServer((near) => {
    if (isAway) return void near.destroy();
    const far = connect(Number(target.port), target.hostname);
    near.pipe(far).pipe(near);
    near.once("data", (opening: Buffer) => [near, far].forEach((end) => openings.set(end, String(opening))));
    for (const socket of [near, far]) {
      const end = () => [near, far].forEach((end) => end.destroy());
      sockets.add(
        socket.on("error", end).on("close", () => (sockets.delete(socket), openings.delete(socket))),
      );
      if (hangs) socket.pause();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  const all = (hang: boolean) => {
    hangs = hang;
    for (const socket of sockets) socket[hang ? "pause" : "resume"]();
  };
  const hang = (name: string) => {
    for (const socket of sockets) if (openings.get(socket)?.includes(name)) socket.pause();
  };
  const destroyAll = () => sockets.forEach((socket) => socket.destroy());
  return {
    url: through.href,
    hang: (name) => (name === undefined ? all(true) : hang(name)),
    goOn: () => all(false),
    leave: () => {
      isAway = true;
      destroyAll();
    },
    comeBack: (moved = target.href) => {
      target = new URL(moved);
      isAway = false;
    },
    stop: () => {
      server.close();
      destroyAll();
    },
  };
}
