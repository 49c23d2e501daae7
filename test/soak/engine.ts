import { setTimeout as sleep } from "node:timers/promises";
import type { FakeCall } from "../support/vapi";
import type { Client } from "./client";
import type { Installation } from "./installation";

const CALLBACKS = "/rest/v1/webhooks/vapi/server-messages";
const POLL_MS = 200;

/** Acts as the voice engine: reports the events of each call in an order that real engines use. */
export class Engine {
  private readonly seen = new Set<string>();
  private readonly running = new Set<Promise<void>>();
  private stopped = false;
  private readonly loop: Promise<void>;

  constructor(
    private readonly installation: Installation,
    private readonly client: Client,
  ) {
    this.loop = this.watch();
  }

  /** Waits until every call has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.loop;
    await Promise.all(this.running);
  }

  private async watch(): Promise<void> {
    do {
      await sleep(POLL_MS);
      for (const call of this.installation.vapi.calls) {
        if (this.seen.has(call.id)) continue;
        this.seen.add(call.id);
        const work: Promise<void> = this.play(call)
          .catch(() => undefined)
          .finally(() => this.running.delete(work));
        this.running.add(work);
      }
    } while (!this.stopped);
  }

  private async play(call: FakeCall): Promise<void> {
    const words = [
      { role: "assistant", message: "Good morning." },
      { role: "user", message: `question ${call.id}` },
      { role: "assistant", message: `answer to ${call.id}` },
    ];
    await this.tell(call, "status-update", { status: "in-progress" });
    for (const { role, message } of words) {
      await sleep(300);
      await this.tell(call, "transcript", { role, transcriptType: "final", transcript: message });
    }
    this.installation.vapi.end(call.id, "customer-ended-call");
    await this.tell(call, "status-update", { status: "ended", endedReason: "customer-ended-call" });
    await sleep(1_000);
    const messages = words.map(({ role, message }) => ({ role: role === "user" ? "user" : "bot", message }));
    await this.tell(call, "end-of-call-report", {
      endedReason: "customer-ended-call",
      artifact: { messages, recordingUrl: "" },
    });
  }

  /** Posts a report until a server accepts it. */
  private async tell({ id, name, assistant }: FakeCall, type: string, more: object): Promise<void> {
    const body = JSON.stringify({ message: { type, call: { id, name }, ...more } });
    const headers = { "Content-Type": "application/json", ...assistant.server.headers };
    await this.client.as({}).insist(() => ({ method: "POST", path: CALLBACKS, headers, body }));
  }
}
