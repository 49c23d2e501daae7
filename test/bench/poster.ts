import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { percentile } from "./bench";

/** Messages to post to conversations by turns, for some time. */
export interface Posting {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A body per conversation. */
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Messages a second; as many as possible if not set. */
  readonly perSecond?: number;
}

/** Posts a second and the median time of one in ms, or the reason why they failed. */
export type Posted = { readonly rate: number; readonly median: number } | { readonly failure: string };

async function post({ origin, headers, bodies, connections, seconds, perSecond }: Posting): Promise<Posted> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const began = performance.now();
  let posted = 0;
  const times: number[] = [];
  const one = async () => {
    while (performance.now() - began < seconds * 1_000) {
      const number = posted++;
      if (perSecond) await sleep(began + (number * 1_000) / perSecond - performance.now());
      const body = bodies[number % bodies.length]!;
      const path = "/rest/v1/ai-chats/messages";
      const sent = performance.now();
      const answer = await pool.request({ method: "POST", path, headers, body });
      const text = await answer.body.text();
      times.push(performance.now() - sent);
      if (answer.statusCode !== 201) throw new Error(`${answer.statusCode}: ${text}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, one));
    const rate = (posted * 1_000) / (performance.now() - began);
    return { rate, median: percentile(times, 0.5) };
  } catch (error) {
    return { failure: String(error) };
  } finally {
    await pool.destroy();
  }
}

process.on("message", (posting: Posting) => void post(posting).then((posted) => process.send!(posted)));
