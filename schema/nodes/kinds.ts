import type { Caller } from "../../src/account/auth/caller";
import { Keys } from "../../src/account/organization/keys";
import { Organizations } from "../../src/account/organization/organizations";
import { Records, type RecordTable } from "../../src/account/organization/records";
import { Projects } from "../../src/account/projects/projects";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { Configurations, type ConfigurationKind } from "../../src/assistants/configurations/configurations";
import { Templates } from "../../src/assistants/configurations/templates";
import { Files } from "../../src/assistants/files/files";
import { TelephonyConnections } from "../../src/assistants/telephony/telephony-connections";
import { Versions } from "../../src/assistants/versions/versions";
import { Chats } from "../../src/chats/chats/chats";
import { EndUsers } from "../../src/chats/chats/end-users";
import { Deployments } from "../../src/conversation/workflows/deployments";
import { WorkflowEdges } from "../../src/conversation/workflows/workflow-edges";
import { WorkflowNodes } from "../../src/conversation/workflows/workflow-nodes";
import { Workflows } from "../../src/conversation/workflows/workflows";
import { Events } from "../../src/events/events/events";
import { Deliveries } from "../../src/events/webhooks/deliveries";
import { WebhookDestinations } from "../../src/events/webhooks/destinations";
import type { Scope } from "../../src/platform/database/scope";
import { Erasures } from "../../src/privacy/erasure/erasures";
import { EndUserExports } from "../../src/privacy/exports/exports";

/** Type of a record with an id of its own. */
interface Kind {
  readonly type: string;
  /** The root field that reads one such record; without one, the rule of the type decides who may read it. */
  readonly root?: string;
  /** Reads a record; calls in the same tick share statements. */
  readonly read: (scope: Scope, id: string, caller: Caller) => Promise<object | undefined>;
}

/** The types of records, by their tables. */
export const KINDS: Readonly<Record<RecordTable, Kind>> = {
  assistants: {
    type: "Assistant",
    root: "assistant",
    read: (scope, id) => scope.of(Assistants).byIdIncludingDeleted(id),
  },
  chats: { type: "Chat", root: "chat", read: (scope, id) => scope.of(Chats).ofRecord(id) },
  deliveries: { type: "Delivery", root: "delivery", read: (scope, id) => scope.of(Deliveries).byId(id) },
  deployments: {
    type: "Deployment",
    root: "deployment",
    read: (scope, id) => scope.of(Deployments).find(id),
  },
  end_users: { type: "EndUser", root: "endUser", read: (scope, id) => scope.of(EndUsers).byId(id) },
  end_user_exports: {
    type: "EndUserExport",
    root: "endUserExport",
    read: (scope, id) => scope.of(EndUserExports).byId(id),
  },
  events: { type: "Event", root: "event", read: (scope, id) => scope.of(Events).byId(id) },
  files: { type: "File", root: "file", read: (scope, id) => scope.of(Files).byId(id) },
  erasures: { type: "ForgetReceipt", root: "erasure", read: (scope, id) => scope.of(Erasures).byId(id) },
  api_keys: { type: "Key", root: "key", read: (scope, id, caller) => scope.of(Keys).byId(id, caller) },
  projects: { type: "Project", root: "project", read: (scope, id) => scope.of(Projects).byId(id) },
  telephony_connections: {
    type: "TelephonyConnection",
    root: "telephonyConnection",
    read: (scope, id) => scope.of(TelephonyConnections).find(id),
  },
  webhook_destinations: {
    type: "WebhookDestination",
    root: "webhookDestination",
    read: (scope, id) => scope.of(WebhookDestinations).byId(id),
  },
  workflows: { type: "Workflow", root: "workflow", read: (scope, id) => scope.of(Workflows).find(id) },
  workflow_edges: { type: "WorkflowEdge", read: (scope, id) => scope.of(WorkflowEdges).find(id) },
  workflow_nodes: { type: "WorkflowNode", read: (scope, id) => scope.of(WorkflowNodes).find(id) },
};

/** Parts of an assistant with an id of their own: that of the assistant, a dot and the kind. */
export const PARTS: Readonly<Record<string, ConfigurationKind>> = {
  ChatConfiguration: "chat",
  SmsConfiguration: "sms",
  ThemeConfiguration: "theme",
  VoiceConfiguration: "voice",
};

/** A version of an assistant has the id of the assistant, a dot and its number. */
const VERSION = /^[1-9]\d{0,8}$/;
/** Ids of imported assistants may contain dots, too. */
const PART_ID = /^(.*)\.(chat|sms|theme|voice|[1-9]\d{0,8})$/s;

/** The type of a record, and how to read it. */
export interface Located extends Pick<Kind, "root"> {
  readonly type: string;
  readonly read: (caller: Caller) => Promise<object | undefined>;
}

/** Finds the record with an id; undefined if there is none. */
export async function locate(scope: Scope, id: string): Promise<Located | undefined> {
  if (id === scope.organizationId)
    return { type: "Organization", root: "organization", read: () => scope.of(Organizations).current() };
  const [, owner, part] = PART_ID.exec(id) ?? [];
  const [table, ofOwner] = await Promise.all(
    [id, owner ?? id].map((one) => scope.of(Records).tableOf(one)), // one statement
  );
  if (table === undefined && owner !== undefined && part !== undefined) {
    const isTemplate = ofOwner === undefined && (await scope.of(Templates).shared(owner)) !== undefined;
    return isTemplate || ofOwner === "assistants"
      ? partOf(scope, part, { id: owner, template: isTemplate })
      : undefined;
  }
  const template = table === undefined ? await scope.of(Templates).shared(id) : undefined;
  if (template) return { ...KINDS.assistants, read: () => Promise.resolve(template) };
  if (table === undefined) return undefined;
  const { read, ...kind } = KINDS[table];
  return { ...kind, read: (caller) => read(scope, id, caller) };
}

function partOf(scope: Scope, part: string, owner: { id: string; template: boolean }): Located | undefined {
  if (VERSION.test(part))
    return { type: "AssistantVersion", read: () => scope.of(Versions).find(owner.id, Number(part)) };
  const found = Object.entries(PARTS).find(([, kind]) => kind === part);
  return found && { type: found[0], read: () => scope.of(Configurations).of(found[1], owner) };
}
