import type { JsonObject } from "../../json/json-object";
import type { ReceivedSms } from "../../ports/telephony";
import type { Utterance } from "../../ports/voice-engine";
import type { AuditEntry, AuditNote, Disclosure } from "./audited-operation";
import type { EventName } from "./event-names";
import type { PublicRow } from "./rows";

/** Fields shared by voice, SMS and chat configurations. */
interface Conversational {
  functions: JsonObject[];
}

/** A configuration of a template, in the columns of its table. */
type Settings<
  T extends "voice_configurations" | "sms_configurations" | "chat_configurations" | "theme_configurations",
> = PublicRow<T, "assistantId" | "updatedAt">;

/** An MCP server whose tools an assistant may call, without its headers. */
export interface ToolServer {
  /** Unique within the assistant. */
  readonly name: string;
  readonly url: string;
  /** Names of its headers, whose values are encrypted. */
  readonly headerNames: readonly string[];
  /** The server's own names of the tools that may be called; null for all. */
  readonly allowedTools: readonly string[] | null;
}

/** What an assistant does about a variable without a value in its texts. */
export type MissingVariables = "KEEP" | "BLANK" | "REFUSE";

interface Variables {
  variables: JsonObject;
}

interface Assistant extends Variables {
  missingVariables: MissingVariables;
  toolServers: readonly ToolServer[];
}

interface Template extends Variables {
  voice: Settings<"voice_configurations">;
  sms: Settings<"sms_configurations">;
  chat: Settings<"chat_configurations">;
  theme: Settings<"theme_configurations">;
}

/** Words of a call that a callback of the voice engine reported, or the answer to the callback. */
export interface CallbackAnswer extends JsonObject {
  /** A single transcript, with its time in ms since 1970. */
  readonly heard?: Utterance & { readonly at?: number };
  /** A report of the whole conversation. */
  readonly told?: readonly Utterance[];
}

/** An attempt to deliver an event to a webhook destination. */
export interface DeliveryAttempt {
  /** From 1. */
  readonly number: number;
  readonly status: number | null;
  readonly error: string | null;
  /** The first KiB of the answer. */
  readonly answer: string | null;
  readonly startedAt: string;
  readonly durationMs: number;
}

/** Says how the payload of an event is composed from the messages of its chat. */
export interface Recipe {
  /** Version of the composer. */
  readonly composer: number;
  /** Sequence of the newest message that it contains; 0 without any. */
  readonly last: number;
  /** Sequence of the oldest one, if it leaves out older ones. */
  readonly first?: number;
  /** Fields of `data` besides the messages. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A fact that an assistant remembers about a person. */
export interface Fact {
  readonly text: string;
  readonly createdAt: string;
  /** Whether the organization had proven the person's identity; undefined in facts of older versions. */
  readonly signed?: boolean;
}

/** Types of columns whose values the database does not restrict: JSON, and texts that only our code writes. */
export interface ValueTypes {
  api_keys: {
    permissions: readonly ("read" | "write" | "calls" | "keys" | "webhooks" | "import")[];
    assistantIds: readonly string[];
  };
  assistants: Assistant;
  audit_events: Pick<AuditNote, "kind" | "actor" | "interface" | "fields">;
  audit_outbox: { entry: AuditEntry["entry"] };
  calls: { spoken: JsonObject };
  chat_configurations: Conversational;
  chats: {
    variables: JsonObject;
    metadata: JsonObject;
    errors: readonly { readonly at: string; readonly message: string }[];
    setVariables: Readonly<JsonObject>;
    /** Number of messages at each change of the status, by its event id. */
    statusPlaces: Readonly<Record<string, number>>;
    /** Number of the version of each assistant of the workflow, by its id. */
    speakerVersions: Readonly<Record<string, number>>;
  };
  chat_drafts: { content: JsonObject };
  deliveries: { attempts: readonly DeliveryAttempt[] };
  end_users: { facts: readonly Fact[] };
  engine_callbacks: { answer: CallbackAnswer };
  events: {
    name: EventName;
    type: "VOICE" | "TEXT" | "SMS";
    recipe: Recipe;
  };
  files: { metadata: JsonObject };
  /** Null for an answer that an older server stored. */
  idempotency_keys: { disclosed: readonly Disclosure[]; warnings: readonly string[] };
  organizations: { modelFailures: JsonObject };
  messages: { metadata: JsonObject; toolCalls: JsonObject[] };
  sms_configurations: Conversational;
  sms_contacts: { answers: readonly string[] };
  sms_received: { sms: ReceivedSms; answer: readonly string[] };
  templates: Template;
  theme_configurations: { theme: JsonObject; allowedOrigins: string[] };
  voice_configurations: Conversational;
  /** Never empty. */
  webhook_destinations: { events: readonly EventName[] };
  workflow_edges: { collects: readonly string[] };
  workflow_nodes: { arguments: JsonObject; metadata: JsonObject };
}
