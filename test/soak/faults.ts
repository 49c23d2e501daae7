import { setTimeout as sleep } from "node:timers/promises";
import type { Installation } from "./installation";

/** Duration of temporary faults, in ms. */
const FAULT_MS = 12_000;

export interface Fault {
  readonly name: string;
  /** Causes the fault and ends it. */
  readonly run: (installation: Installation) => Promise<void>;
}

const during = (begin: () => void, end: () => void) => async () => {
  begin();
  await sleep(FAULT_MS);
  end();
};

/** The faults. They affect servers A and B; C runs throughout, so that its memory can be measured. */
export const FAULTS: readonly Fault[] = [
  {
    name: "kill -9 of server A",
    run: async ({ servers: [a] }) => {
      await a!.end("SIGKILL");
      await a!.start();
    },
  },
  {
    name: "the model hangs",
    run: ({ model }) =>
      during(
        () => (model.mode = "hangs"),
        () => model.release(),
      )(),
  },
  {
    name: "the database restarts",
    run: async (installation) => {
      await installation.stopDatabase();
      await sleep(3_000);
      await installation.startDatabase();
    },
  },
  {
    name: "the receiver of webhooks answers 500",
    run: ({ receiver }) =>
      during(
        () => receiver.answer((res) => void res.writeHead(500).end()),
        () => receiver.answer((res) => void res.end("ok")),
      )(),
  },
  {
    name: "server B is restarted in order",
    run: async ({ servers: [, b] }) => {
      await b!.end("SIGTERM");
      await b!.start();
    },
  },
  {
    name: "the database hangs",
    run: (installation) =>
      during(
        () => installation.hangDatabase(true),
        () => installation.hangDatabase(false),
      )(),
  },
  {
    name: "the receiver of webhooks hangs",
    run: ({ receiver }) =>
      during(
        () => receiver.answer(() => undefined),
        () => receiver.answer((res) => void res.end("ok")),
      )(),
  },
  {
    name: "server A is stopped for longer than the takeover time, then goes on",
    run: async ({ servers: [a] }) => {
      a!.signal("SIGSTOP");
      await sleep(20_000);
      a!.signal("SIGCONT");
    },
  },
  {
    name: "the model answers 500",
    run: ({ model }) =>
      during(
        () => (model.mode = "fails"),
        () => model.release(),
      )(),
  },
  {
    name: "Twilio is away",
    run: async ({ twilio }) => {
      await twilio.stop();
      await sleep(FAULT_MS);
      await twilio.start();
    },
  },
  {
    name: "kill -9 of servers A and B at once",
    run: async ({ servers: [a, b] }) => {
      await Promise.all([a!.end("SIGKILL"), b!.end("SIGKILL")]);
      await Promise.all([a!.start(), b!.start()]);
    },
  },
];
