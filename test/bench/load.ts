import { Pool } from "undici";

/** Requests to send. */
export interface Load {
  readonly origin: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Total number of requests. */
  readonly requests: number;
  /** Number of simultaneous requests, each on its own connection. */
  readonly connections: number;
}

/** Duration of the requests, or the reason why they failed. */
export type LoadResult = { readonly seconds: number } | { readonly failure: string };

async function send({ origin, requests, connections, ...request }: Load): Promise<LoadResult> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  let left = requests;
  const one = async () => {
    while (left-- > 0) {
      const { statusCode, body } = await pool.request(request);
      const bytes = await body.bytes();
      if (statusCode >= 300) throw new Error(`${statusCode}: ${Buffer.from(bytes).toString()}`);
    }
  };
  const began = performance.now();
  try {
    await Promise.all(Array.from({ length: connections }, one));
    return { seconds: (performance.now() - began) / 1000 };
  } catch (error) {
    return { failure: String(error) };
  } finally {
    await pool.destroy();
  }
}

process.on("message", (load: Load) => void send(load).then((taken) => process.send!(taken)));
