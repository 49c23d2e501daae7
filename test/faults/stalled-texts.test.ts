import { expect, test } from "@jest/globals";
import pg from "pg";
import { useApp } from "../support/app";
import { quietAssistant } from "../support/factories";
import { afterTest, SERVER_TIMEOUT_MS, SETTINGS, startServer } from "../support/server";
import { until } from "../support/until";
import { answeredBy, bring, connect, newPerson } from "../support/sms";
import { LONG } from "../support/suite";
import { stubModel } from "../support/stub-model";
import { smsOf } from "../support/twilio";

/** Connects numbers. The servers that the tests start process the texts. */
const running = useApp({ WORKER: "off", SMS_ANSWER_SECONDS: "0" });

const server = () =>
  startServer({
    ...SETTINGS,
    DATABASE_URL: running.database.ownerUrl,
    TWILIO_BASE_URL: running.twilio.url,
    OUTBOUND_ALLOW: "127.0.0.0/8",
    TAKEOVER_SECONDS: "2",
  });

/** Connections beside the pool of the tests. */
async function client(): Promise<pg.Client> {
  const one = new pg.Client({ connectionString: running.database.ownerUrl });
  await one.connect();
  afterTest(() => one.end());
  return one;
}

const waitsFor = (event: string, text: string) =>
  until(async () => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event = $1 and query like $2`;
    return (await running.database.query(waiting, [event, text])).length > 0;
  });

type Step = () => Promise<void>;

/** Blocks the next attempt to send just before it is stored. @returns a function that ends the block */
async function holdClaims(): Promise<Step> {
  const holder = await client();
  await holder.query("select pg_advisory_lock(1)");
  await holder.query(`create or replace function hold_claims() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(1); return new; end $$`);
  await holder.query(`create trigger hold_claims before update on sms_sent for each row
    when (new.attempts > old.attempts) execute function hold_claims()`);
  const drop = () => running.database.query("drop function if exists hold_claims cascade");
  afterTest(drop);
  return async () => void (await holder.query("select pg_advisory_unlock(1)"));
}

/** Steps between which a server stalls, each with its preparation and the wait until another server sends the text. */
const POINTS = {
  "recording the attempt and checking the deadline": async (release: Step, stop: () => void) => {
    await waitsFor("advisory", "update%sms_sent%");
    stop();
    await release();
    const stored = "select from sms_sent where asked_at is not null and sent_at is null";
    await until(async () => (await running.database.query(stored)).length > 0);
    await running.database.query("update sms_sent set asked_at = asked_at - interval '25 seconds'");
  },
  // Another server sends the text only after the deadline of the first, which passes in real time here.
  "checking the deadline and calling the provider": async (release: Step, stop: () => void) => {
    await waitsFor("advisory", "update%sms_sent%");
    const owner = await client();
    await owner.query("begin");
    const locked = owner.query("lock table sms_sent in access exclusive mode");
    await waitsFor("relation", "lock table%");
    await release();
    await locked;
    await waitsFor("relation", "select%sms_sent%");
    stop();
    await owner.query("commit");
  },
};

const KINDS = {
  "an answer in a chat": { said: "When do you open?", sent: "We open at 9." },
  "a sentence that belongs to no chat": {
    said: "HELP",
    sent: expect.stringContaining("automatic assistant"),
  },
};

/** In quick runs each kind of text and each point once. */
const CASES = Object.keys(KINDS).flatMap((kind, index) =>
  Object.keys(POINTS)
    .filter((_, other) => LONG || other === index)
    .map((point) => [kind, point] as const),
);

test.each(CASES)(
  "%s is sent once, even if its server stalls between %s",
  async (kind, point) => {
    const model = await stubModel({ text: ["We open at 9."] });
    afterTest(model.stop);
    await answeredBy(running, model);
    const number = await connect(running, [await quietAssistant(running.api)]);
    const from = newPerson();
    const { said, sent } = KINDS[kind as keyof typeof KINDS];
    const texts = () => running.twilio.sentTo(from).map(({ Body }) => Body);
    expect((await bring(running, number, smsOf(number, from, said))).status).toBe(200);
    const release = await holdClaims();
    const first = await server();
    await POINTS[point as keyof typeof POINTS](release, () => process.kill(first.pid, "SIGSTOP"));
    await server();
    await until(() => texts().length > 0);
    process.kill(first.pid, "SIGCONT");
    // The process ends only after its current work has ended.
    expect((await first.end("SIGTERM")).code).toBe(0);
    expect(texts()).toEqual([sent]);
    expect(running.twilio.problems).toEqual([]);
    const left = "select from sms_sent where sent_at is null or message_sid is null";
    expect(await running.database.query(left)).toEqual([]);
  },
  3 * SERVER_TIMEOUT_MS,
);
