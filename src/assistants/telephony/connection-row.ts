import { DomainError } from "../../platform/errors";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import type { TelephonyLine } from "../../platform/ports/telephony";
import { parsePhoneNumberFromString } from "libphonenumber-js/max";

/** The ids of connected numbers, for a subquery: a job removes the texts of all others. */
export const connectedNumbers = (scope: Scope) => scope.table("telephony_connections").select("id");

/** Reads a stored connection, not shared with other reads. */
export const CONNECTION_BY_ID = statement(({ table, $ }) =>
  table("telephony_connections").where({ id: $(1) }),
);

/** A phone number of an organization at a telephony provider, as shown to callers. */
export interface TelephonyConnection {
  readonly id: string;
  /** E.164. */
  readonly phoneNumber: string;
  readonly accountSid: string;
  readonly messagingServiceSid: string | null;
  /** The last characters of the token. */
  readonly authTokenHint: string;
  /** Callback URL for the provider: it must send incoming texts there. */
  readonly interceptSmsUrl: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A stored connection. */
export type ConnectionRow = Omit<TelephonyConnection, "authTokenHint" | "interceptSmsUrl"> & {
  readonly sealedToken: string;
};

const BY_ID = statement<ConnectionRow>(({ table, $, db }) =>
  table("telephony_connections").where("id", db.raw("any(?::text[])", [$(1)])),
);

/** The stored connection; undefined if it does not exist. Reads in the same tick share one statement. */
export function sharedRow(scope: Scope, id: string): Promise<ConnectionRow | undefined> {
  const loader = scope.loader<ConnectionRow | undefined>("telephony_connections", async (ids) => {
    const rows = await scope.read(BY_ID, [ids]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((one) => found.get(one));
  });
  return loader.load(id);
}

const HINT_LENGTH = 4;

export const toConnection = (
  { sealedToken: _, ...row }: ConnectionRow,
  authToken: string,
  interceptSmsUrl: string,
): TelephonyConnection => ({
  ...row,
  authTokenHint: `…${authToken.slice(-HINT_LENGTH)}`,
  interceptSmsUrl,
});

/** ISO 3166-1 code of a number's country; the main one if several share the calling code. */
export function countryOf(phoneNumber: string): string | undefined {
  const number = parsePhoneNumberFromString(phoneNumber);
  return number?.country ?? number?.getPossibleCountries()[0];
}

const DUPLICATE = "23505";

/** Does not reveal whether this or another organization has connected the number. */
export function rejectDuplicate(error: unknown): never {
  if ((error as { code?: unknown }).code !== DUPLICATE) throw error;
  throw new DomainError(
    "CONFLICT",
    "This phone number is already connected. Disconnect it first (disconnectTelephony).",
  );
}

export interface UpdateTelephonyConnectionInput {
  readonly accountSid?: string;
  readonly authToken?: string;
  readonly messagingServiceSid?: string | null;
  readonly assistantIds?: readonly string[];
}

/** An account after a change. */
export function mergeLine(
  { messagingServiceSid: former, ...line }: TelephonyLine,
  { messagingServiceSid, ...changes }: Omit<UpdateTelephonyConnectionInput, "assistantIds">,
): TelephonyLine {
  const service = messagingServiceSid === undefined ? former : (messagingServiceSid ?? undefined);
  return { ...line, ...changes, ...(service !== undefined && { messagingServiceSid: service }) };
}
