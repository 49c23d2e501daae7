import type { LRUCache } from "lru-cache";
import type { Knex } from "knex";
import type { Crypto } from "../crypto";
import type { Catalog, ModelEntry } from "../catalog/load-catalog";
import type { Outbound } from "../outbound/http";
import type { ArgumentChecker } from "./argument-checker";
import type { DocumentReader } from "./document-reader";
import type { EmbeddingModel } from "./embedding-model";
import type { Storage } from "./storage";
import type { Telephony } from "./telephony";
import type { ModelReports } from "./model-reports";
import type { ModelCredential, TextModel } from "./text-model";
import type { ToolClient } from "./tool-client";
import type { ToolRefusals } from "./tool-refusals";
import type { VoiceEngine } from "./voice-engine";

/** The text models that write the assistants' answers. */
export interface Models {
  /** Sends the request to a vendor. */
  readonly remote: TextModel;
  /** Answers if no credential is set. */
  readonly local: TextModel;
  /** Tells the operator what became of requests to models. */
  readonly reports: ModelReports;
  readonly refusals: ToolRefusals;
  /** The outcome of each organization's models that this process stored last, for a short time. */
  readonly outcomes: {
    get(key: string): string | undefined;
    set(key: string, outcome: string): unknown;
    delete(key: string): boolean;
  };
  /** Credentials from the server's settings, by vendor. */
  readonly credentials: Readonly<Record<string, { readonly apiKey?: string; readonly baseUrl?: string }>>;
  /** Answers for identifiers whose provider has no credential, if the server's settings name a model. */
  readonly fallback?: {
    readonly model: Pick<ModelEntry, "provider" | "model" | "baseUrl">;
    readonly credential: ModelCredential;
  };
  /** Longest time for one answer. */
  readonly timeoutMs: number;
}

/** The engine that makes telephone calls, and the rules for calls. */
export interface Voice {
  readonly engine: VoiceEngine;
  /** Address for the engine's callbacks, without a trailing slash. */
  readonly callbacksAt: () => string;
  /** Secret of all callbacks; without it each call has its own. */
  readonly secret?: string;
  /** Countries whose numbers may be called, as ISO 3166-1 codes; undefined allows every country. */
  readonly countries?: readonly string[];
  /** Longest duration of a call, in seconds. */
  readonly maxSeconds: number;
  /** Longest time for one answer of the engine. */
  readonly timeoutMs: number;
  /** After this long without a callback the engine is asked whether the call is still live. */
  readonly silenceMs: number;
}

/** The provider that receives and sends SMS for connected numbers. */
export interface Telephone {
  readonly provider: Telephony;
  /** Address for received texts. */
  readonly interceptUrl: () => string;
  /** Address for delivery reports. */
  readonly statusUrl: () => string;
  /** Whether the provider can reach `statusUrl`. */
  readonly reportsDelivery: boolean;
  /** Time that the request with an incoming text waits for the assistant's answer. */
  readonly answerTimeoutMs: number;
}

/** The model that makes embeddings of texts. */
export interface Embeddings {
  readonly remote: EmbeddingModel;
  /** The vendor's name for the model. Vectors of different models cannot be compared. */
  readonly model: string;
  /** Credential from the server's settings, for all organizations; without it each uses its own OPENAI credential. */
  readonly credential?: ModelCredential;
}

/** Upper limits for one organization, and what is remembered of its usage. */
export interface QuotaLimits {
  /** Stored files, in bytes. */
  readonly storedBytes: number;
  readonly files: number;
  readonly assistants: number;
  readonly liveChats: number;
  /** Versions that are kept. */
  readonly versions: number;
  /** Remembered usage of organizations: the room for each kind of record, and the stored bytes. */
  readonly usage: LRUCache<string, number, LookAtUsage>;
}

/** Looks at the usage of an organization. @returns undefined for what must not be remembered */
export type LookAtUsage = () => Promise<{ readonly value: number; readonly lifetimeMs: number } | undefined>;

/** A job that was started by the same statement that requested it. */
export interface StartedJob {
  readonly id: string;
  readonly task: string;
  readonly payload: Readonly<Record<string, string>>;
}

/** A free slot for one job in this process. */
export interface JobSlot {
  /** Worker id to store with the started job. */
  readonly worker: string;
  /** Runs the job; to be called after its transaction has committed. */
  take(job: StartedJob): void;
  /** Frees the slot if no job was started. */
  release(): void;
}

/** A delivery that was begun by the same statement that stored its event. */
export interface StartedDelivery {
  readonly id: string;
  readonly destinationId: string;
  /** Time of the last change of the destination, as text. */
  readonly changedAt: string;
}

/** An event that was just stored, with its body, or the recipe and the digest of one. */
export interface StartedEvent {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly assistantId: string;
  readonly chatId: string;
  readonly body: string | null;
  readonly recipe: object | null;
  readonly digest: string | null;
}

/** An event that was just stored with its deliveries. */
export interface StoredDeliveries {
  readonly event: StartedEvent;
  /** Destinations that get it. */
  readonly destinationIds: readonly string[];
  /** The deliveries that the statement has begun. */
  readonly started: readonly StartedDelivery[];
}

/** The properties of an event that determine its destinations, together with their settings. */
export interface EventKind {
  readonly name: string;
  readonly assistantId: string;
}

/** Room in this process for one delivery to each of some destinations. */
export interface DeliveryRoom {
  /** Claim to store with the queues of begun deliveries; expires after `leaseMs`. */
  readonly claim: string;
  readonly leaseMs: number;
  readonly destinationIds: readonly string[];
  /**
   * Sends the deliveries that the statement has begun, and frees the rest of the room. Call it once, after the commit; or
   * without an event, if none was stored.
   */
  take(stored?: StoredDeliveries): void;
}

/** Notifications between server processes, through the database. */
export interface Notifications {
  /** Notifies all servers of a committed change, unless the connection breaks: receivers must find it otherwise, too. */
  send(channel: string, ids: Readonly<Record<string, string>>): void;
  /** Wakes the workers of all servers for new jobs, which they otherwise find within a second. */
  wakeWorkers(jobs: number): void;
  /** Calls `listener` for each notification. @returns a function that unsubscribes */
  on(channel: string, listener: (ids: Readonly<Record<string, string>>) => void): () => void;
  /** Calls `listener` after each reconnection: notifications sent meanwhile are lost. @returns a function that unsubscribes */
  onRenewed(listener: () => void): () => void;
}

/** A replica of the database, for reads. */
export interface ReadReplica {
  readonly db: Knex;
  /** Whether it has everything up to a position in the primary's log, in bytes. */
  has(position: bigint): Promise<boolean>;
  /** Leaves the replica alone for a while after a failure. */
  failed(error: unknown): void;
  /** Counts a read that it may answer, by the database that answered. */
  readonly countRead: (database: "replica" | "primary") => void;
}

/** Everything outside the database that services use. */
export interface Ports {
  readonly crypto: Crypto;
  readonly catalog: Catalog;
  readonly storage: Storage;
  readonly models: Models;
  readonly voice: Voice;
  readonly telephone: Telephone;
  /** Undefined if the database cannot store vectors or the settings turn embeddings off. */
  readonly embeddings: Embeddings | undefined;
  /** Default retention in days, for organizations that have not chosen one; null keeps records forever. */
  readonly retention: Readonly<Record<"LOGS" | "RECORDINGS" | "EVENTS", number | null>> & {
    /** Days between the announcement of a shorter retention and its start. */
    readonly noticeDays: number;
  };
  /** Reads uploaded documents. */
  readonly reader: DocumentReader;
  /** Checks the arguments of functions. */
  readonly checker: ArgumentChecker;
  /** Lists and calls the tools of MCP servers. */
  readonly tools: ToolClient;
  readonly quotas: QuotaLimits;
  /** HTTP client for addresses that customers chose. */
  readonly outbound: Outbound;
  /** Receives notifications about changes by any server process. */
  readonly listener: Notifications;
  /** Undefined if the settings name none. */
  readonly replica?: ReadReplica;
  /** Public address of the service, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Takes a slot for a job; undefined if this process runs no jobs or has no free slot for this organization. */
  readonly jobSlot: (organizationId: string) => JobSlot | undefined;
  /** Takes room for deliveries; undefined if this process makes none, or knows no destination that gets such events. */
  readonly deliveryRoom: (organizationId: string, event: EventKind) => DeliveryRoom | undefined;
  /** Removes a key from this process's cache immediately; other processes are notified. */
  readonly forgetKey: (organizationId: string, keyId: string) => void;
}
