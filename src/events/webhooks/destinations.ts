import { connectionByAge } from "../../platform/database/lists/connection";
import type { Connection, ConnectionQuery } from "../../platform/database/lists/connection";
import { jobOf } from "../../account/audit/note";
import { currentDate, currentTime } from "../../platform/clock";
import { DEFAULT_EVENTS, type EventName } from "../../platform/database/tables/event-names";
import { newId } from "../../platform/database/values/ids";
import { encoded } from "../../platform/database/values/encoded";
import { withFreeKey } from "../../platform/database/record-key";
import { NEWEST_FIRST } from "../../platform/database/lists/order";
import type { Scope } from "../../platform/database/scope";
import { invalid, missing } from "../../platform/errors";
import { recordSample } from "../events/samples";
import type { Outcome } from "../../platform/outbound/http";
import { Projects } from "../../account/projects/projects";
import { Deliveries, type Delivery } from "./deliveries";
import { choiceOf, type KeptColumns, type WebhookDestinationInput } from "./destination-input";
import {
  COUNT_FAILURE,
  foundRow,
  lockedRow,
  rowsOfProject,
  sharedRow,
  type DestinationRow,
} from "./destination-rows";
import { removeDeliveriesLater } from "./remove-deliveries";
import { warnOfDisabled, warnOfSecret } from "./warnings";

export interface WebhookDestination {
  readonly id: string;
  readonly url: string;
  readonly name: string | null;
  readonly key: string | null;
  readonly secret: string;
  readonly projectId: string | null;
  readonly enabled: boolean;
  /** Names of the chosen events; null without a choice. */
  readonly events: readonly EventName[] | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type DestinationConnection = Connection<WebhookDestination>;

/** The URL of a destination and the secrets that sign its deliveries. */
export interface DeliveryTarget {
  /** Id of the destination. */
  readonly id: string;
  readonly enabled: boolean;
  readonly url: string;
  /** Signing secrets, newest first. */
  readonly secrets: string[];
  readonly failingSince: Date | null;
}

/** After a change of the secret, deliveries are signed with the former one too for this long. */
const FORMER_SECRET_LIFETIME_MS = 86_400_000;
/** A destination is disabled if all attempts have failed for this long, and at least this many. */
const FAILURE_LIMIT = { timeMs: 5 * 86_400_000, attempts: 20 } as const;
const ENABLED = { enabled: true, failures: 0, failingSince: null } as const;
/** HTTP status by which a receiver asks for no further deliveries. */
const GONE_STATUS = 410;

/** The webhook destinations of an organization and its projects. */
export class WebhookDestinations {
  constructor(private readonly scope: Scope) {}

  /** Destinations of a project, or without one of the organization itself; newest first. @throws PROJECT_NOT_FOUND */
  async list(projectId: string | null = null): Promise<WebhookDestination[]> {
    if (projectId !== null) await this.scope.of(Projects).byId(projectId);
    const rows = this.scope.table("webhook_destinations").where({ projectId });
    return this.shown(await rows.orderBy(NEWEST_FIRST));
  }

  /** The same by creation, as a connection. @throws PROJECT_NOT_FOUND */
  async connection(query: ConnectionQuery, projectId: string | null): Promise<DestinationConnection> {
    if (projectId !== null) await this.scope.of(Projects).byId(projectId);
    const rows = this.scope.table("webhook_destinations").where({ projectId });
    return connectionByAge({ rows, map: (row) => this.shown([row])[0]! }, query);
  }

  /** Destinations of a project, newest first. Calls in the same tick share one statement. */
  async ofProject(projectId: string): Promise<WebhookDestination[]> {
    return this.shown(await rowsOfProject(this.scope, projectId));
  }

  /** Calls in the same tick share one statement. @throws WEBHOOK_DESTINATION_NOT_FOUND */
  async byId(id: string): Promise<WebhookDestination> {
    return this.withSecret(await sharedRow(this.scope, id));
  }

  /** @throws BAD_USER_INPUT for a URL that is not allowed; PROJECT_NOT_FOUND, CONFLICT */
  async create(
    { secret, events, ...input }: WebhookDestinationInput,
    kept?: KeptColumns,
  ): Promise<WebhookDestination> {
    this.checkUrl(input.url);
    if (input.projectId != null) await this.scope.of(Projects).byId(input.projectId);
    const { id = newId() } = kept ?? {};
    const row = {
      ...input,
      ...kept,
      id,
      events: choiceOf(events),
      sealedSecret: this.sealed(id, secret),
    };
    const insert = async () => await this.scope.insert("webhook_destinations", row);
    const [stored] = await withFreeKey(this.scope, "webhook_destinations", { key: input.key }, insert);
    warnOfSecret(this.scope, secret);
    return this.withSecret(stored!);
  }

  /**
   * Changes a destination, and enables it again if it was disabled after failures. Its key alone changes nothing else.
   * @param kept what an import keeps
   * @throws WEBHOOK_DESTINATION_NOT_FOUND, PROJECT_NOT_FOUND, CONFLICT; BAD_USER_INPUT for a URL that is not allowed
   */
  async update(
    id: string,
    { secret, events, ...input }: Partial<WebhookDestinationInput>,
    kept: Partial<KeptColumns> = {},
  ): Promise<WebhookDestination> {
    if (input.url !== undefined) this.checkUrl(input.url);
    if (input.projectId != null) await this.scope.of(Projects).byId(input.projectId);
    return this.scope.transaction(async (scope) => {
      const old = await lockedRow(scope, id);
      const choice = events !== undefined && { events: choiceOf(events) };
      const changes = {
        ...encoded({ ...input, ...choice }),
        ...(secret !== undefined && this.newSecret(old, secret)),
      };
      const isKeyOnly = Object.keys(changes).every((name) => name === "key");
      const { enabled = !isKeyOnly } = kept;
      const update = async () =>
        await scope
          .table("webhook_destinations")
          .where({ id })
          .update({ ...changes, ...(enabled && ENABLED), updatedAt: currentDate(), ...kept })
          .returning("*");
      const [row] = await withFreeKey(scope, "webhook_destinations", { id, key: input.key }, update);
      if (secret !== undefined) warnOfSecret(scope, secret);
      return this.withSecret(row ?? missing("WebhookDestination", id));
    });
  }

  /** A job removes its deliveries. @returns the deleted destination. @throws WEBHOOK_DESTINATION_NOT_FOUND */
  async remove(id: string): Promise<WebhookDestination> {
    return this.scope.transaction(async (scope) => {
      const [row] = await scope.table("webhook_destinations").where({ id }).delete("*");
      if (row) await removeDeliveriesLater(scope, [id]);
      return this.withSecret(row ?? missing("WebhookDestination", id));
    });
  }

  /** Sends a test event. @throws WEBHOOK_DESTINATION_NOT_FOUND, WEBHOOK_DESTINATION_DISABLED */
  async test(id: string): Promise<Delivery> {
    return this.scope.transaction(async (scope) => {
      await sharedRow(scope, id);
      return scope.of(Deliveries).add(await recordSample(scope, "interaction-status"), id);
    });
  }

  /**
   * Sends a sample of each event that the destination has chosen.
   * @throws WEBHOOK_DESTINATION_NOT_FOUND, WEBHOOK_DESTINATION_DISABLED
   */
  async sendSamples(id: string): Promise<Delivery[]> {
    return this.scope.transaction(async (scope) => {
      const { events } = await sharedRow(scope, id);
      const deliveries: Delivery[] = [];
      for (const name of events ?? DEFAULT_EVENTS)
        deliveries.push(await scope.of(Deliveries).add(await recordSample(scope, name), id));
      return deliveries;
    });
  }

  /** The target of a destination; undefined if it has been deleted. Reads in the same tick share one statement. */
  async target(id: string): Promise<DeliveryTarget | undefined> {
    const row = await foundRow(this.scope, id);
    if (!row) return undefined;
    const { enabled, url, failingSince, sealedSecret, formerSealedSecret: former } = row;
    const isFormerUsed = former !== null && row.formerSecretUntil! > currentDate();
    const secrets = [sealedSecret, ...(isFormerUsed ? [former] : [])].map((sealed) => this.open(id, sealed));
    return { id, enabled, url, secrets, failingSince };
  }

  /**
   * Counts failures. Disables a destination that has only failed for days, or that answers 410 Gone.
   * @param failingSince as in the target
   */
  async recordOutcome(
    id: string,
    outcome: Outcome,
    succeeded: boolean,
    failingSince: Date | null,
  ): Promise<void> {
    if (succeeded) {
      const destination = this.scope.table("webhook_destinations").where({ id });
      if (failingSince !== null) await destination.update({ failures: 0, failingSince: null });
      return;
    }
    const [row] = await this.scope.write(COUNT_FAILURE, [id, currentDate()]);
    const since = row?.failingSince ?? currentDate();
    const gone = outcome.kind === "answered" && outcome.status === GONE_STATUS;
    const hopeless =
      (row?.failures ?? 0) >= FAILURE_LIMIT.attempts &&
      currentTime() - since.getTime() >= FAILURE_LIMIT.timeMs;
    // A delivery that was in flight when the destination was disabled is not tried again.
    const wasDisabled = row?.enabled === false;
    if (!gone && !hopeless && !wasDisabled) return;
    const operation = jobOf("webhook.disable", "WebhookDestination", id, { fields: [{ name: "enabled" }] });
    await this.scope.transaction(async (scope) => {
      const enabled = scope.table("webhook_destinations").where({ id, enabled: true });
      if ((await enabled.update({ enabled: false })) > 0) await scope.audited(operation).storeEntry();
    });
    await this.scope.of(Deliveries).failPending(id);
  }

  private shown(rows: readonly DestinationRow[]): WebhookDestination[] {
    for (const row of rows) warnOfDisabled(this.scope, row);
    return rows.map((row) => this.withSecret(row));
  }

  private checkUrl(url: string): void {
    const message = this.scope.ports.outbound.problemWith(url);
    if (message) throw invalid([{ path: "url", message }]);
  }

  private newSecret({ id, sealedSecret }: DestinationRow, secret: string) {
    if (this.open(id, sealedSecret) === secret) return { sealedSecret }; // else the former one would end at once
    const formerSecretUntil = currentDate(FORMER_SECRET_LIFETIME_MS);
    return { sealedSecret: this.sealed(id, secret), formerSealedSecret: sealedSecret, formerSecretUntil };
  }

  private sealed(id: string, secret: string): string {
    return this.scope.ports.crypto.seal(secret, this.context(id));
  }

  private open(id: string, sealed: string): string {
    return this.scope.ports.crypto.open(sealed, this.context(id));
  }

  private withSecret({ sealedSecret, ...row }: DestinationRow): WebhookDestination {
    return { ...row, secret: this.open(row.id, sealedSecret) };
  }

  private context(id: string): string {
    return `${this.scope.organizationId}/webhook_destinations/${id}`;
  }
}
