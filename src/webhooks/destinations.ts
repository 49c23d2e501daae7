import { randomText } from "../auth/crypto";
import { newId } from "../database/ids";
import { encoded, type Scope } from "../database/scope";
import { invalid, missing } from "../errors";
import { Events } from "../events/events";
import type { Outcome } from "../outbound/http";
import { Projects } from "../projects/projects";
import { Deliveries, type Delivery } from "./deliveries";

export interface WebhookDestination {
  readonly id: string;
  readonly url: string;
  readonly name: string | null;
  readonly secret: string;
  readonly projectId: string | null;
  readonly enabled: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface WebhookDestinationInput {
  readonly url: string;
  readonly secret: string;
  readonly name?: string | null;
  readonly projectId?: string | null;
}

interface DestinationRow extends Omit<WebhookDestination, "secret"> {
  readonly sealedSecret: string;
  readonly formerSealedSecret: string | null;
  readonly formerSecretUntil: Date | null;
  readonly failures: number;
  readonly failingSince: Date | null;
}

/** How long signatures are made with a former secret too, in milliseconds. */
const FORMER_SECRET = 86_400_000;
/** A destination is switched off after this long, in milliseconds, and this many tries, of nothing but failures. */
const FAILING = { time: 5 * 86_400_000, tries: 20 } as const;
/** A receiver that answers this never wants anything again. */
const GONE = 410;

/** Where an organization, or one of its projects, wants events sent. */
export class WebhookDestinations {
  constructor(private readonly scope: Scope) {}

  /** The newest first: those of a project, or those of the organization itself. @throws PROJECT_NOT_FOUND */
  async list(projectId: string | null = null): Promise<WebhookDestination[]> {
    if (projectId !== null) await this.scope.of(Projects).byId(projectId);
    const rows = this.scope.table("webhook_destinations").where({ projectId }).orderBy("id", "desc");
    return ((await rows) as DestinationRow[]).map((row) => this.opened(row));
  }

  /** @throws WEBHOOK_DESTINATION_NOT_FOUND */
  async byId(id: string): Promise<WebhookDestination> {
    return this.opened(await this.row(id));
  }

  /** @throws BAD_USER_INPUT for a URL that may not be stored; PROJECT_NOT_FOUND */
  async create({ url, name, secret, projectId }: WebhookDestinationInput): Promise<WebhookDestination> {
    this.checkUrl(url);
    if (projectId != null) await this.scope.of(Projects).byId(projectId);
    const id = newId();
    const row = {
      id,
      url,
      name: name ?? null,
      projectId: projectId ?? null,
      sealedSecret: this.sealed(id, secret),
    };
    const [stored] = (await this.scope.insert("webhook_destinations", row)) as DestinationRow[];
    return this.opened(stored!);
  }

  /** Changes it, and switches it on again when failures had switched it off. @throws WEBHOOK_DESTINATION_NOT_FOUND */
  async update(
    id: string,
    { secret, ...input }: Partial<WebhookDestinationInput>,
  ): Promise<WebhookDestination> {
    if (input.url !== undefined) this.checkUrl(input.url);
    if (input.projectId != null) await this.scope.of(Projects).byId(input.projectId);
    return this.scope.transaction(async (scope) => {
      const old = await scope.of(WebhookDestinations).row(id);
      const changes = { ...encoded({ ...input }), ...(secret !== undefined && this.newSecret(old, secret)) };
      const [row] = (await scope
        .table("webhook_destinations")
        .where({ id })
        .update({ ...changes, enabled: true, failures: 0, failingSince: null, updatedAt: new Date() })
        .returning("*")) as DestinationRow[];
      return this.opened(row ?? missing("WebhookDestination"));
    });
  }

  /** @returns the destination that was deleted; throws WEBHOOK_DESTINATION_NOT_FOUND */
  async remove(id: string): Promise<WebhookDestination> {
    const rows = await this.scope.table("webhook_destinations").where({ id }).delete().returning("*");
    return this.opened((rows as DestinationRow[])[0] ?? missing("WebhookDestination"));
  }

  /** Sends it an event that tells of nothing. @throws WEBHOOK_DESTINATION_NOT_FOUND */
  async test(id: string): Promise<Delivery> {
    return this.scope.transaction(async (scope) => {
      await scope.of(WebhookDestinations).row(id);
      return scope.of(Deliveries).add(await scope.of(Events).trial(), id);
    });
  }

  /** What is sent of an event, where to, and what signs it: the newest secret first. */
  async letter(id: string, eventId: string): Promise<{ url: string; body: string; secrets: string[] }> {
    const [row, events] = await Promise.all([
      this.row(id),
      this.scope.named<{ body: string }>(
        "events.body",
        (table, $) =>
          table("events")
            .select("body")
            .where({ id: $(1) }),
        [eventId],
      ),
    ]);
    const former =
      row.formerSecretUntil && row.formerSecretUntil > new Date() ? row.formerSealedSecret : null;
    const secrets = [row.sealedSecret, ...(former === null ? [] : [former])].map((sealed) =>
      this.open(id, sealed),
    );
    return { url: row.url, body: events[0]!.body, secrets };
  }

  /** Counts failures, and switches a destination off that has known nothing else for days, or that says it is gone. */
  async noteOutcome(id: string, outcome: Outcome, succeeded: boolean): Promise<void> {
    const { failures, failingSince } = await this.row(id);
    const destination = this.scope.table("webhook_destinations").where({ id });
    if (succeeded) {
      if (failingSince !== null) await destination.update({ failures: 0, failingSince: null });
      return;
    }
    const since = failingSince ?? new Date();
    const gone = outcome.kind === "answered" && outcome.status === GONE;
    const hopeless = failures + 1 >= FAILING.tries && Date.now() - since.getTime() >= FAILING.time;
    await destination.update({
      failures: failures + 1,
      failingSince: since,
      ...((gone || hopeless) && { enabled: false }),
    });
    if (gone || hopeless) await this.scope.of(Deliveries).giveUp(id);
  }

  private async row(id: string): Promise<DestinationRow> {
    const [row] = await this.scope.named<DestinationRow>(
      "webhook_destinations.byId",
      (table, $) => table("webhook_destinations").where({ id: $(1) }),
      [id],
    );
    return row ?? missing("WebhookDestination");
  }

  private checkUrl(url: string): void {
    const message = this.scope.ports.outbound.problemWith(url);
    if (message) throw invalid([{ path: "url", message }]);
  }

  private newSecret({ id, sealedSecret }: DestinationRow, secret: string) {
    const formerSecretUntil = new Date(Date.now() + FORMER_SECRET);
    return { sealedSecret: this.sealed(id, secret), formerSealedSecret: sealedSecret, formerSecretUntil };
  }

  private sealed(id: string, secret: string): string {
    return this.scope.ports.crypto.seal(secret, this.context(id));
  }

  private open(id: string, sealed: string): string {
    return this.scope.ports.crypto.open(sealed, this.context(id));
  }

  private opened({ sealedSecret, ...row }: DestinationRow): WebhookDestination {
    return { ...row, secret: this.open(row.id, sealedSecret) };
  }

  private context(id: string): string {
    return `${this.scope.organizationId}/webhook_destinations/${id}`;
  }
}

/** A new random signing secret of 192 bits. Nothing is stored until it is used. */
export const newWebhookSecret = (): string =>
  `whsec_${Buffer.from(randomText(24), "base64url").toString("base64")}`;
