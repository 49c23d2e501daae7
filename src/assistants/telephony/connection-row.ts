import { parsePhoneNumberFromString } from "libphonenumber-js/max";

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
