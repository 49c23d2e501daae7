import { parsePhoneNumberFromString } from "libphonenumber-js/max";

/** A telephone number of an organization at a provider, as callers see it. */
export interface TelephonyConnection {
  readonly id: string;
  /** E.164. */
  readonly phoneNumber: string;
  readonly accountSid: string;
  readonly messagingServiceSid: string | null;
  /** The last characters of the token. */
  readonly authTokenHint: string;
  /** What the provider is to call when a text comes in. */
  readonly interceptSmsUrl: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A connection as it is stored. */
export type ConnectionRow = Omit<TelephonyConnection, "authTokenHint" | "interceptSmsUrl"> & {
  readonly sealedToken: string;
};

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

/** The country of a number, ISO 3166-1; of several that share it, the main one. */
export function countryOf(phoneNumber: string): string | undefined {
  const number = parsePhoneNumberFromString(phoneNumber);
  return number?.country ?? number?.getPossibleCountries()[0];
}
