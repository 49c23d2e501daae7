import type { ModelTool } from "./text-model";

export type EngineStatus = "queued" | "ringing" | "in-progress" | "forwarding" | "ended";

/** An assistant's voice configuration with variables filled in. */
export interface SpokenAssistant {
  readonly name: string;
  /** First words of the assistant; if empty, the person speaks first. */
  readonly greeting: string;
  readonly prompt: string;
  /** Identifier of the text model, for display only: the answers come from this service. */
  readonly model: string;
  /** 0 to 2. */
  readonly temperature: number;
  readonly maxTokens: number;
  /** Vendor of the speech synthesis, as named in the catalog. */
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

/** Addresses for the engine's requests to this service, and their credentials. */
export interface Callbacks {
  /** Receives the events of the call. */
  readonly messagesUrl: string;
  /** Base URL of the chat completions API that writes the answers; the engine appends `/chat/completions`. */
  readonly modelUrl: string;
  /** Sent with each request to either address. */
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
  /** Our id for the call, also stored at the engine to find the call there. */
  readonly callId: string;
  readonly assistant: SpokenAssistant;
  readonly callbacks: Callbacks;
  /** Longest duration of the call, in seconds; the engine hangs up then. */
  readonly maxSeconds: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}
export interface PhoneCallOrder extends CallOrder {
  /** E.164. */
  readonly phoneNumber: string;
  readonly userName?: string;
  readonly externalId?: string;
  /** Number to call from; without it the one from the server's settings is used. */
  readonly from?: CallingNumber;
}

/** A call as the engine knows it. */
export interface EngineCall {
  /** The engine's own id for the call. */
  readonly id: string;
  readonly status: EngineStatus;
  readonly endedReason?: string;
}

/** Identifies a call at the engine. */
export interface CallReference {
  readonly callId: string;
  /** Undefined until the engine has reported it. */
  readonly engineCallId?: string;
  /** The call was not placed before this time. */
  readonly since: Date;
}

/** The engine refused to make a call; a retry is pointless. */
export class CallRefused extends Error {
  constructor(
    message: string,
    /** Becomes the call's endedReason. */
    readonly reason = "call-start-failed",
  ) {
    super(message);
  }
}

/** Dials, listens and speaks. */
export interface VoiceEngine {
  readonly name: string;
  /** Whether it dials real telephones. If so, dialing limits apply and only permitted numbers may be called. */
  readonly real: boolean;
  /** Whether the engine accepts this number although it is not a valid telephone number. */
  takes(phoneNumber: string): boolean;
  /** Why the engine ignores a part of a call's metadata; undefined if it ignores none, or uses none at all. */
  problemOf?(metadata: Readonly<Record<string, unknown>>): string | undefined;
  /**
   * Starts to dial.
   * @throws CallRefused if no call was made; after any other error one may have been made
   */
  place(order: PhoneCallOrder, signal: AbortSignal): Promise<EngineCall>;
  /** Opens a call from a web page; undefined if the engine does not support it or is not set up for it. */
  readonly web:
    ((order: CallOrder, signal: AbortSignal) => Promise<EngineCall & { url: string }>) | undefined;
  /** The current state of a call; undefined if the engine does not know it. @throws Error if the engine does not answer */
  find(call: CallReference, signal: AbortSignal): Promise<EngineCall | undefined>;
  /** Ends the call; does nothing if it has ended. @throws Error if the engine does not answer */
  hangUp(call: CallReference, signal: AbortSignal): Promise<void>;
  /** Deletes the engine's data about a call (recording, transcript, numbers), if any. @throws Error if the engine does not answer */
  erase(call: CallReference, signal: AbortSignal): Promise<void>;
  /** Reads the body of a callback; accepts any value. */
  read(body: unknown): EngineMessage;
  /** The ids of the call in a callback or in a request for a chat completion. */
  names(body: unknown): { readonly callId?: string; readonly engineCallId?: string };
  /** Writes the answer to a callback. */
  answer(answer: EngineAnswer): Record<string, unknown>;
  close(): Promise<void>;
}

/** An event that an engine reports about a call. */
export type EngineMessage =
  | { readonly type: "status"; readonly status: EngineStatus; readonly endedReason?: string }
  | {
      readonly type: "transcript";
      readonly said: Utterance;
      readonly final: boolean;
      /** Time of the words in ms since 1970, by the engine's clock; absent if the engine does not send it. */
      readonly at?: number;
    }
  | { readonly type: "conversation"; readonly said: readonly Utterance[] }
  | { readonly type: "tool-calls"; readonly calls: readonly ToolCall[] }
  | {
      readonly type: "report";
      readonly endedReason?: string;
      readonly recordingUrl?: string;
      readonly said: readonly Utterance[];
    }
  | {
      readonly type: "assistant-request";
      /** The called number and the caller in E.164; absent if the engine does not send them. */
      readonly calledNumber?: string;
      readonly callerNumber?: string;
    }
  | { readonly type: "transfer-request" }
  | { readonly type: "hang" }
  | { readonly type: "other" };

export interface Utterance {
  readonly role: "USER" | "ASSISTANT";
  readonly text: string;
}
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** The response to an engine's callback. */
export type EngineAnswer =
  | {
      readonly type: "tools";
      readonly results: readonly { readonly id: string; readonly name: string; readonly text: string }[];
    }
  | { readonly type: "assistant"; readonly order: CallOrder }
  | { readonly type: "no-transfer"; readonly message: string };
