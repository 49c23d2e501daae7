import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "../../clock";
import type { EngineCall, EngineStatus, PhoneCallOrder } from "../../ports/voice-engine";
import { readCompletion, type Completion } from "./ask-model";
import { behaviorOf, type Behavior } from "./behavior";
import { CallbackSender } from "./callback-sender";
import { readScript } from "./script";

type Json = Readonly<Record<string, unknown>>;
interface Turn {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string | null;
  readonly tool_calls?: readonly Json[];
  readonly tool_call_id?: string;
}

export interface SimulatorOptions {
  /** Speed as a multiple of real time. */
  readonly speed: number;
  readonly reach: typeof fetch;
  /** Interval of heartbeat callbacks in real time; they distinguish a silent call from one whose simulator died. */
  readonly heartbeatMs: number;
  /** Address of a call's recording. */
  readonly recordingUrl: (engineCallId: string) => string;
}

/** Durations in simulated seconds. */
const SECONDS = { dialing: 0.5, ringing: 3, ringingUnanswered: 20, word: 0.35, pause: 0.6 } as const;
const HEARTBEAT = { type: "speech-update", status: "started", role: "user" };
/** Upper limit for rounds of tool calls in one answer. */
const MAX_TOOL_ROUNDS = 5;
const KILLED = Symbol("killed");
const VOICEMAIL = "Nobody can take your call. Please leave a message after the tone.";

/** One simulated call, from dialing to the final report. */
export class SimulatedCall {
  readonly id: string;
  status: EngineStatus = "queued";
  endedReason: string | undefined;
  private readonly behavior: Behavior;
  private readonly callbacks: CallbackSender;
  private readonly over = new AbortController();
  private readonly talk: Turn[] = [];
  private clock = 0;

  constructor(
    private readonly order: PhoneCallOrder,
    private readonly options: SimulatorOptions,
  ) {
    this.id = `sim_${order.callId}`;
    this.behavior = behaviorOf(order.phoneNumber);
    this.callbacks = new CallbackSender(this.behavior.delivery, (message) => this.post(message));
  }

  get engineCall(): EngineCall {
    const { id, status, endedReason } = this;
    return { id, status, ...(endedReason !== undefined && { endedReason }) };
  }

  /** Hangs up; the callbacks about the end follow. */
  hangUp(reason: string): void {
    this.over.abort(reason);
  }

  /** Stops without callbacks, as if the process had crashed. */
  kill(): void {
    this.over.abort(KILLED);
  }

  /** Plays the call. Never throws: if the server does not answer, the call is lost. */
  async run(): Promise<void> {
    const beat = setInterval(
      () => void this.post(this.stamped(HEARTBEAT)).catch(() => undefined),
      this.options.heartbeatMs,
    );
    try {
      const reason = await this.play().catch((error: unknown) => {
        if (!this.over.signal.aborted || this.over.signal.reason === KILLED) throw error;
        return String(this.over.signal.reason);
      });
      await this.end(reason);
    } catch {
      this.status = "ended"; // the server cannot be reached
    } finally {
      clearInterval(beat);
    }
  }

  /** @returns the reason for the end of the call */
  private async play(): Promise<string> {
    const { goes } = this.behavior;
    await this.wait(SECONDS.dialing);
    await this.become("ringing");
    await this.wait(goes === "unanswered" ? SECONDS.ringingUnanswered : SECONDS.ringing);
    if (goes === "busy") return "customer-busy";
    if (goes === "unanswered") return "customer-did-not-answer";
    await this.become("in-progress");
    if (goes === "voicemail") {
      await this.hear("user", VOICEMAIL);
      return "voicemail";
    }
    const reason = await this.converse();
    if (goes === "endless") await sleep(2_147_483_647, undefined, { signal: this.over.signal });
    return reason;
  }

  private async converse(): Promise<string> {
    const { assistant, metadata } = this.order;
    const { goes } = this.behavior;
    if (assistant.greeting !== "") await this.say(assistant.greeting);
    for (const line of readScript(metadata).lines) {
      await this.hear("user", line);
      this.talk.push({ role: "user", content: line });
      const ended = await this.letAnswer();
      if (ended !== undefined) return ended;
      if (goes === "dropped") return "phone-call-provider-closed-websocket";
      if (goes === "forwarded") {
        await this.become("forwarding");
        await this.wait(SECONDS.pause);
        return "assistant-forwarded-call";
      }
    }
    return "customer-ended-call";
  }

  /** Lets the assistant answer. @returns the reason for the end of the call, if the assistant ended it */
  private async letAnswer(): Promise<string | undefined> {
    const { endCallPhrases, endCallMessage } = this.order.assistant;
    for (let round = 0; round < MAX_TOOL_ROUNDS; round++) {
      const { text, calls } = await this.ask();
      if (text !== "") await this.say(text);
      if (calls.some(({ name }) => name === "endCall")) {
        if (endCallMessage !== "") await this.say(endCallMessage);
        return "assistant-ended-call";
      }
      const said = text.toLowerCase();
      if (endCallPhrases.some((phrase) => said.includes(phrase.toLowerCase())))
        return "assistant-said-end-call-phrase";
      if (calls.length === 0) return undefined;
      this.talk.push({ role: "assistant", content: null, tool_calls: calls.map((call) => toolCall(call)) });
      for (const { id } of calls) this.talk.push({ role: "tool", content: "Done.", tool_call_id: id });
    }
    return undefined;
  }

  private async ask(): Promise<Completion> {
    const { assistant, callbacks, callId } = this.order;
    const system = { role: "system", content: assistant.prompt };
    const tools = [
      ...(assistant.endCallFunction ? [tool("endCall", {})] : []),
      ...(assistant.dialKeypadFunction ? [tool("dtmf", { dtmf: { type: "string" } })] : []),
    ];
    const body = {
      model: assistant.model,
      messages: [system, ...this.talk],
      temperature: assistant.temperature,
      max_tokens: assistant.maxTokens,
      ...(tools.length > 0 && { tools }),
      stream: true,
      call: { id: this.id },
      metadata: { parleyCallId: callId },
    };
    return readCompletion(
      await this.request(`${callbacks.modelUrl}/chat/completions`, body, this.over.signal),
    );
  }

  /** Lets the assistant speak, with a transcript callback for each sentence. */
  private async say(text: string): Promise<void> {
    this.talk.push({ role: "assistant", content: text });
    for (const sentence of text.split(/(?<=[.!?])\s+/)) await this.hear("assistant", sentence);
    await this.tell({
      type: "conversation-update",
      messagesOpenAIFormatted: this.talk.filter(({ role }) => role !== "tool"),
    });
  }

  private async hear(role: "user" | "assistant", transcript: string): Promise<void> {
    await this.wait(SECONDS.pause + transcript.split(/\s+/).length * SECONDS.word);
    await this.tell({ type: "transcript", role, transcriptType: "final", transcript });
  }

  private async become(status: EngineStatus): Promise<void> {
    this.status = status;
    await this.tell({ type: "status-update", status });
  }

  private async end(endedReason: string): Promise<void> {
    this.status = "ended";
    this.endedReason = endedReason;
    await this.tell({ type: "status-update", status: "ended", endedReason });
    const spoken = this.talk.some(({ role }) => role !== "tool");
    const recording = spoken ? { recordingUrl: this.options.recordingUrl(this.id) } : {};
    await this.tell({
      type: "end-of-call-report",
      endedReason,
      artifact: { ...recording, messagesOpenAIFormatted: this.talk },
    });
    await this.callbacks.empty();
  }

  private wait(seconds: number): Promise<void> {
    return sleep((seconds * 1_000) / this.options.speed, undefined, { signal: this.over.signal });
  }

  private tell(message: Json): Promise<void> {
    return this.callbacks.send(this.stamped(message));
  }

  /** Adds a timestamp, which is unique within the call. */
  private stamped(message: Json): Json {
    this.clock = Math.max(this.clock + 1, currentTime());
    return { ...message, timestamp: this.clock, call: { id: this.id, name: this.order.callId } };
  }

  private async post(message: Json): Promise<void> {
    await (await this.request(this.order.callbacks.messagesUrl, { message })).text();
  }

  private request(url: string, body: Json, signal?: AbortSignal): Promise<Response> {
    const headers = { ...this.order.callbacks.headers, "content-type": "application/json" };
    return this.options.reach(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  }
}

const tool = (name: string, properties: Json): Json => ({
  type: "function",
  function: { name, parameters: { type: "object", properties } },
});

const toolCall = ({ id, name, arguments: args }: Completion["calls"][number]): Json => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
