import type { Crypto } from "../crypto";
import type { Catalog } from "../catalog/load-catalog";
import type { Outbound } from "../outbound/http";
import type { ArgumentChecker } from "./argument-checker";
import type { DocumentReader } from "./document-reader";
import type { EmbeddingModel } from "./embedding-model";
import type { Storage } from "./storage";
import type { Telephony } from "./telephony";
import type { ModelCredential, TextModel } from "./text-model";
import type { VoiceEngine } from "./voice-engine";

/** Who writes the assistants' answers. */
export interface Models {
  /** Asks a vendor. */
  readonly remote: TextModel;
  /** Answers where no credential is given. */
  readonly local: TextModel;
  /** What the server's settings give for each vendor. */
  readonly credentials: Readonly<Record<string, { readonly apiKey?: string; readonly baseUrl?: string }>>;
  /** How long one answer may take, in milliseconds. */
  readonly timeout: number;
}

/** Who makes telephone calls, and the rules for them. */
export interface Voice {
  readonly engine: VoiceEngine;
  /** Address that the engine's callbacks go to, without a slash at its end. */
  readonly callbacksAt: () => string;
  /** Replaces the secrets of single calls. */
  readonly secret?: string;
  /** Countries whose numbers may be called, ISO 3166-1; undefined: any. */
  readonly countries?: readonly string[];
  /** How long a call may last, in seconds. */
  readonly maxSeconds: number;
  /** How long the engine may take to answer, in milliseconds. */
  readonly timeout: number;
  /** After this long without a word of the engine it is asked whether a call still stands, in milliseconds. */
  readonly silence: number;
}

/** Who takes and sends texts for connected numbers. */
export interface Telephone {
  readonly provider: Telephony;
  /** Where the provider brings texts that came in. */
  readonly interceptUrl: () => string;
  /** Where the provider reports how texts were delivered. */
  readonly statusUrl: () => string;
  /** Whether the provider can reach that. */
  readonly reportsDelivery: boolean;
  /** How long a request with a text waits for the answer to its text, in milliseconds. */
  readonly patience: number;
}

/** Who tells what texts mean. */
export interface Embeddings {
  readonly remote: EmbeddingModel;
  /** The vendor's name of the model. Vectors of two models can't be compared. */
  readonly model: string;
  /** What the server's settings give for all organizations; without it each uses what it has for OPENAI. */
  readonly credential?: ModelCredential;
}

/** What an organization may have at most. */
export interface QuotaLimits {
  /** In bytes. */
  readonly storedBytes: number;
  readonly files: number;
  readonly assistants: number;
  readonly liveChats: number;
  /** Until when, by `performance.now()`, an organization has room to spare; by kind of record and organization. */
  readonly spacious: Map<string, number>;
  /** Bytes that organizations stored when it was last read, and until when that counts, by `performance.now()`. */
  readonly sizes: Map<string, { readonly bytes: number; readonly until: number }>;
}

/** A job that was begun by the statement that asked for it. */
export interface BegunJob {
  readonly id: string;
  readonly task: string;
  readonly payload: Readonly<Record<string, string>>;
}

/** Room for one job in this process. */
export interface JobPlace {
  /** Under which it is begun. */
  readonly worker: string;
  /** Runs it, once it is committed. */
  take(job: BegunJob): void;
  /** None was begun. */
  leave(): void;
}

/** What server processes tell each other through the database. */
export interface Notifications {
  /** Calls `hear` at each notification; the returned function ends that. */
  on(channel: string, hear: (ids: Readonly<Record<string, string>>) => void): () => void;
  /** Calls `renewed` each time notifications arrive again: what was told in between is lost. */
  onRenewed(renewed: () => void): () => void;
}

/** What services reach beside the database. */
export interface Ports {
  readonly crypto: Crypto;
  readonly catalog: Catalog;
  readonly storage: Storage;
  readonly models: Models;
  readonly voice: Voice;
  readonly telephone: Telephone;
  /** Undefined where the database can't keep vectors, or the settings want none. */
  readonly embeddings: Embeddings | undefined;
  /** Days for which things are kept where an organization has not chosen; null: for ever. */
  readonly retention: Readonly<Record<"LOGS" | "RECORDINGS" | "EVENTS", number | null>> & {
    /** Days for which a shorter retention is announced. */
    readonly noticeDays: number;
  };
  /** Reads uploaded documents. */
  readonly reader: DocumentReader;
  /** Checks the arguments of functions. */
  readonly checker: ArgumentChecker;
  readonly quotas: QuotaLimits;
  /** Reaches addresses that customers chose. */
  readonly outbound: Outbound;
  /** Hears what any server process changed. */
  readonly listener: Notifications;
  /** Address that clients reach the service by, without a slash at its end. */
  readonly publicUrl: () => string;
  /** Undefined where this process runs no jobs, or has no room for this organization. */
  readonly placeForJob: (organizationId: string) => JobPlace | undefined;
  /** Drops what this process remembers of a key, at once; the others hear of it. */
  readonly forgetKey: (keyId: string) => void;
}
