import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port that is free. It lies below the ports that Linux gives to connections and to servers that ask for any (32768
 * and above), so that no other test takes it before its server listens.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_000);
  const probe = createServer().listen(port, "127.0.0.1");
  const isFree = await once(probe, "listening").then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
      return false;
    },
  );
  if (!isFree) return freePort();
  probe.close();
  return port;
}
