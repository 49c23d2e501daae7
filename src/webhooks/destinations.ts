import { newId } from "../database/ids";
import { encoded, type Scope } from "../database/scope";
import { invalid, missing } from "../errors";
import { randomText } from "../auth/crypto";

export interface WebhookDestination {
  readonly id: string;
  readonly url: string;
  readonly name: string | null;
  readonly secret: string;
  readonly enabled: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface WebhookDestinationInput {
  readonly url: string;
  readonly secret: string;
  readonly name?: string | null;
}

type DestinationRow = Omit<WebhookDestination, "secret"> & { readonly sealedSecret: string };

/** Where an organization wants its events sent. */
export class WebhookDestinations {
  constructor(private readonly scope: Scope) {}

  /** The newest first. */
  async list(): Promise<WebhookDestination[]> {
    const rows = (await this.scope.table("webhook_destinations").orderBy("id", "desc")) as DestinationRow[];
    return rows.map((row) => this.opened(row));
  }

  async create({ url, name, secret }: WebhookDestinationInput): Promise<WebhookDestination> {
    checkUrl(url);
    const id = newId();
    const row = { id, url, name: name ?? null, sealedSecret: this.sealed(id, secret) };
    const [stored] = (await this.scope.insert("webhook_destinations", row)) as DestinationRow[];
    return this.opened(stored!);
  }

  /** @throws WEBHOOK_DESTINATION_NOT_FOUND */
  async update(
    id: string,
    { secret, ...input }: Partial<WebhookDestinationInput>,
  ): Promise<WebhookDestination> {
    if (input.url !== undefined) checkUrl(input.url);
    const sealedSecret = secret === undefined ? undefined : this.sealed(id, secret);
    const changes = { ...encoded({ ...input, sealedSecret }), updatedAt: new Date() };
    const [row] = (await this.scope
      .table("webhook_destinations")
      .where({ id })
      .update(changes)
      .returning("*")) as DestinationRow[];
    return this.opened(row ?? missing("WebhookDestination"));
  }

  /** @returns the destination that was deleted; throws WEBHOOK_DESTINATION_NOT_FOUND */
  async remove(id: string): Promise<WebhookDestination> {
    const [row] = (await this.scope
      .table("webhook_destinations")
      .where({ id })
      .delete()
      .returning("*")) as DestinationRow[];
    return this.opened(row ?? missing("WebhookDestination"));
  }

  private sealed(id: string, secret: string): string {
    return this.scope.ports.crypto.seal(secret, this.context(id));
  }

  private opened({ sealedSecret, ...row }: DestinationRow): WebhookDestination {
    return { ...row, secret: this.scope.ports.crypto.open(sealedSecret, this.context(row.id)) };
  }

  private context(id: string): string {
    return `${this.scope.organizationId}/webhook_destinations/${id}`;
  }
}

/** A new random signing secret of 192 bits. Nothing is stored until it is used. */
export const newWebhookSecret = (): string =>
  `whsec_${Buffer.from(randomText(24), "base64url").toString("base64")}`;

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const refuse = (message: string) => invalid([{ path: "url", message }]);
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw refuse("must be a URL that begins with http:// or https://");
  if (url.username || url.password) throw refuse("must not hold a user name or password");
}
