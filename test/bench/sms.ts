import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { newAccount, sign, smsOf, Twilio, type Account } from "../support/twilio";
import type { Running } from "./processes";
import type { Table } from "./table";

/** Texts per second and number of seconds; each person sends a few texts. */
const RATE = 300;
const SECONDS = 10;
const EACH = 5;
/** Time that the provider waits for the answer to its request, in seconds. */
const PROVIDER_WAITS = 15;
const PATH = "/webhooks/twilio/intercept-sms";

interface AnswerTimes {
  readonly failures: number;
  /** Median and maximum time to the answer of a request, in seconds. */
  readonly median: number;
  readonly slowest: number;
  /** Texts answered with TwiML. */
  readonly answered: number;
}

/** Measures 300 incoming texts per second at a steady rate: none may be refused, and each person must get an answer. */
export async function sms(
  serve: (env: Record<string, string>) => Promise<Running>,
  key: string,
  table: Table,
): Promise<void> {
  const twilio = await new Twilio().start();
  const server = await serve({ TWILIO_BASE_URL: twilio.url });
  try {
    const account = await connected(server, key);
    await bring(server, account, 100, 100); // warm
    const { failures, median, slowest, answered } = await bring(server, account, RATE * SECONDS, RATE);
    const what = `${RATE} SMS a second for ${SECONDS} s`;
    table.add({ what: `${what}: not accepted`, ours: failures, unit: `of ${RATE * SECONDS}`, most: 1 });
    table.add({ what: `${what}: request answered, median`, ours: median, unit: "s", most: PROVIDER_WAITS });
    table.add({ what: `${what}: request answered, slowest`, ours: slowest, unit: "s", most: PROVIDER_WAITS });
    await sleep(5_000);
    console.error(`${answered} answered by TwiML, ${twilio.sent.length} by the API`);
    table.add({ what: `${what}: problems at the provider`, ours: twilio.problems.length, unit: "", most: 1 });
  } finally {
    await server.stop();
    await twilio.stop();
  }
}

async function connected(server: Running, key: string): Promise<Account> {
  const send = async (path: string, body: object) => {
    const headers = { "X-API-Key": key, "Content-Type": "application/json" };
    const answer = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const account = newAccount();
  const { id } = await send("/rest/v1/assistants", { name: "Texter" });
  const query = "mutation ($input: ConnectTelephonyInput!) { connectTelephony(input: $input) { id } }";
  await send("/graphql", { query, variables: { input: { ...account, assistantIds: [id] } } });
  return account;
}

let people = 0;

/** Sends texts at a steady rate and waits for the answers. */
async function bring(server: Running, account: Account, count: number, rate: number): Promise<AnswerTimes> {
  const pool = new Pool(server.url, { connections: null, pipelining: 1 });
  const seconds: number[] = [];
  let failures = 0;
  let answered = 0;
  const one = async (from: string) => {
    const params = smsOf(account, from, "When do you open?");
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "x-twilio-signature": sign(account.authToken, server.url + PATH, params),
    };
    const began = performance.now();
    const request = {
      method: "POST",
      path: PATH,
      headers,
      body: new URLSearchParams(params).toString(),
    } as const;
    const answer = await pool.request(request);
    const text = await answer.body.text();
    seconds.push((performance.now() - began) / 1_000);
    if (answer.statusCode !== 200) throw new Error(text);
    if (text.includes("<Message>")) answered++;
  };
  const first = people;
  people += Math.ceil(count / EACH);
  const began = performance.now();
  const all: Promise<void>[] = [];
  for (let number = 0; number < count; number++) {
    const wait = began + (number * 1_000) / rate - performance.now();
    if (wait > 1) await sleep(wait);
    const from = `+4178${4_000_000 + first + (number % Math.ceil(count / EACH))}`;
    const failed = (error: Error) => void (failures++ || console.error(`first failure: ${error.message}`));
    all.push(one(from).catch(failed));
  }
  await Promise.all(all);
  await pool.close();
  seconds.sort((a, b) => a - b);
  return { failures, answered, median: seconds[Math.floor(seconds.length / 2)]!, slowest: seconds.at(-1)! };
}
