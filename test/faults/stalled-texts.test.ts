import { expect, test } from "@jest/globals";
import pg from "pg";
import { useApp } from "../support/app";
import { someoneWaits } from "../support/database";
import { quietAssistant } from "../support/factories";
import { type HeldUpdates, holdUpdates } from "../support/hold-updates";
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

const waitsFor = (text: string) => until(() => someoneWaits(running.database, text));

/** Steps between which a server stalls, each with its preparation and the wait until another server sends the text. */
const POINTS = {
  "recording the attempt and checking the deadline": async (claims: HeldUpdates, stop: () => void) => {
    await waitsFor("update%sms_sent%");
    stop();
    await claims.release();
    const stored = "select from sms_sent where asked_at is not null and sent_at is null";
    await until(async () => (await running.database.query(stored)).length > 0);
    await running.database.query(
      "update sms_sent set asked_at = now() - interval '25 seconds' where asked_at is not null",
    );
  },
  // Another server sends the text only after the deadline of the first, which passes in real time here.
  "checking the deadline and calling the provider": async (claims: HeldUpdates, stop: () => void) => {
    await waitsFor("update%sms_sent%");
    const owner = new pg.Client({ connectionString: running.database.ownerUrl });
    await owner.connect();
    afterTest(() => owner.end());
    await owner.query("begin");
    const locked = owner.query("lock table sms_sent in access exclusive mode");
    await waitsFor("lock table%");
    await claims.release();
    await locked;
    await waitsFor("select%sms_sent%");
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
    // Just before the attempt to send is stored.
    const claims = await holdUpdates(running.database, "sms_sent", "new.attempts > old.attempts");
    const first = await server();
    await POINTS[point as keyof typeof POINTS](claims, () => process.kill(first.pid, "SIGSTOP"));
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
