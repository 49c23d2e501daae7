import type { ModelTool } from "./text-model";

export type EngineStatus = "queued" | "ringing" | "in-progress" | "forwarding" | "ended";

/** How an assistant is to be heard: its voice configuration, variables filled in. */
export interface SpokenAssistant {
  readonly name: string;
  /** The first words; none where it is empty: the person speaks first then. */
  readonly greeting: string;
  readonly prompt: string;
  /** Identifier of the text model, for show: the answers come from this service. */
  readonly model: string;
  /** 0 to 2. */
  readonly temperature: number;
  readonly maxTokens: number;
  /** Vendor of the speech synthesis, as the catalogue names it. */
  readonly voiceProvider: string;
  readonly voice: string;
  readonly functions: readonly ModelTool[];
  readonly endCallFunction: boolean;
  readonly dialKeypadFunction: boolean;
  readonly endCallMessage: string;
  readonly endCallPhrases: readonly string[];
  readonly backgroundSound: "DEFAULT" | "OFF" | "OFFICE";
  readonly backchanneling: boolean;
}

/** Where an engine reports to, and by what it is known there. */
export interface Callbacks {
  /** Takes what happens in the call. */
  readonly messagesUrl: string;
  /** Base of an address that speaks chat completions: what the assistant says comes from `/chat/completions` behind it. */
  readonly modelUrl: string;
  /** Sent along with each request to both. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The customer's own number to call from. */
export interface CallingNumber {
  readonly phoneNumber: string;
  readonly accountSid: string;
  readonly authToken: string;
}

/** A call to make. */
export interface CallOrder {
  /** Our id of the call, by which it is found again at the engine. */
  readonly callId: string;
  readonly assistant: SpokenAssistant;
  readonly callbacks: Callbacks;
  /** After this long the engine hangs up, in seconds. */
  readonly maxSeconds: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}
export interface PhoneCallOrder extends CallOrder {
  /** E.164. */
  readonly phoneNumber: string;
  readonly userName?: string;
  readonly externalId?: string;
  /** Without it the number that the server's settings name is called from. */
  readonly from?: CallingNumber;
}

/** A call as the engine knows it. */
export interface EngineCall {
  /** The engine's own id. */
  readonly id: string;
  readonly status: EngineStatus;
  readonly endedReason?: string;
}

/** Which call is meant. */
export interface CallReference {
  readonly callId: string;
  /** Undefined where the engine has not told it yet. */
  readonly engineCallId?: string;
  /** Not placed before this moment. */
  readonly since: Date;
}

/** The engine said that it makes no such call: asking again is of no use. */
export class CallRefused extends Error {
  constructor(
    message: string,
    /** Becomes the call's endedReason. */
    readonly reason = "call-start-failed",
  ) {
    super(message);
  }
}

/** Whatever dials, listens and speaks. */
export interface VoiceEngine {
  readonly name: string;
  /** Whether it dials real telephones: limits of dialling hold, and a number must be one that may be called. */
  readonly real: boolean;
  /** Whether a number that is none outside is one here. */
  takes(phoneNumber: string): boolean;
  /**
   * Begins to dial.
   * @throws CallRefused when no call was made; any other error leaves open whether one was
   */
  place(order: PhoneCallOrder, signal: AbortSignal): Promise<EngineCall>;
  /** Opens a call from a web page; undefined where the engine has none, or is not set up for it. */
  readonly web:
    ((order: CallOrder, signal: AbortSignal) => Promise<EngineCall & { url: string }>) | undefined;
  /** The call as it stands; undefined when the engine knows none such. @throws Error when it does not answer */
  find(call: CallReference, signal: AbortSignal): Promise<EngineCall | undefined>;
  /** Ends the call; nothing happens when it has ended. @throws Error when the engine does not answer */
  hangUp(call: CallReference, signal: AbortSignal): Promise<void>;
  /** Deletes what the engine keeps of a call: recording, transcript, numbers; nothing happens when it has none. @throws Error when it does not answer */
  erase(call: CallReference, signal: AbortSignal): Promise<void>;
  /** Reads a callback's body, whatever it holds. */
  read(body: unknown): EngineMessage;
  /** The call that a callback or a question for an answer names. */
  names(body: unknown): { readonly callId?: string; readonly engineCallId?: string };
  /** Writes the answer to a callback. */
  answer(answer: EngineAnswer): Record<string, unknown>;
  close(): Promise<void>;
}

/** What an engine tells of a call. */
export type EngineMessage =
  | { readonly type: "status"; readonly status: EngineStatus; readonly endedReason?: string }
  | {
      readonly type: "transcript";
      readonly said: Said;
      readonly final: boolean;
      /** When it was said, in milliseconds by the engine's clock, if the engine tells. */
      readonly at?: number;
    }
  | { readonly type: "conversation"; readonly said: readonly Said[] }
  | { readonly type: "tool-calls"; readonly calls: readonly ToolCall[] }
  | {
      readonly type: "report";
      readonly endedReason?: string;
      readonly recordingUrl?: string;
      readonly said: readonly Said[];
    }
  | {
      readonly type: "assistant-request";
      /** The number that is called, and who calls; E.164, where the engine tells. */
      readonly calledNumber?: string;
      readonly callerNumber?: string;
    }
  | { readonly type: "transfer-request" }
  | { readonly type: "hang" }
  | { readonly type: "other" };

export interface Said {
  readonly role: "USER" | "ASSISTANT";
  readonly text: string;
}
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** What an engine is answered. */
export type EngineAnswer =
  | {
      readonly type: "tools";
      readonly results: readonly { readonly id: string; readonly name: string; readonly text: string }[];
    }
  | { readonly type: "assistant"; readonly order: CallOrder }
  | { readonly type: "no-transfer"; readonly message: string };
