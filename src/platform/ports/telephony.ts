/** A customer's account at the provider. */
export interface TelephonyAccount {
  readonly accountSid: string;
  readonly authToken: string;
}

/** A phone number of the account, and how it sends texts. */
export interface TelephonyLine extends TelephonyAccount {
  /** E.164. */
  readonly phoneNumber: string;
  /** Messaging service that sends the texts; without it the number sends them itself. */
  readonly messagingServiceSid?: string;
}

/** A value that the provider does not accept, and why. */
export interface LineProblem {
  readonly path: "accountSid" | "authToken" | "phoneNumber" | "messagingServiceSid";
  readonly message: string;
}

/** Form parameters of a request by the provider, in the order received. */
export type Parameters = readonly (readonly [name: string, value: string])[];

/** A received text. */
export interface ReceivedSms {
  /** The provider's id for the text; the same in repeated deliveries. */
  readonly messageSid: string;
  /** The receiving number, and the sender. */
  readonly to: string;
  readonly from: string;
  readonly text: string;
  /** Number of attached media files. */
  readonly attachments: number;
  /** Media types of the attachments, such as image/jpeg, if the provider names them. */
  readonly attachmentTypes?: readonly string[];
  /** Keyword, such as STOP, that the provider has already answered. */
  readonly answered?: "STOP" | "START" | "HELP";
}

/** A text to send. */
export interface OutgoingSms {
  readonly to: string;
  readonly body: string;
  /** Address for delivery reports. */
  readonly statusUrl?: string;
}

/** The provider's report about a text that it accepted. */
export interface SmsStatus {
  readonly messageSid: string;
  /** Sending number. */
  readonly from: string;
  /** The provider's status, such as sent, delivered, undelivered or failed. */
  readonly status: string;
  readonly errorCode?: string;
}

/** The provider refused to send a text; a retry is pointless. */
export class SmsRefused extends Error {}

/** The provider refused to delete a text; a retry is pointless. */
export class TextRefused extends Error {}

/** A person's number and a period, to find the texts in both directions. */
export interface Exchange {
  readonly phoneNumber: string;
  readonly from: Date;
  readonly to: Date;
}

/** The provider is overloaded: retry after `seconds`. */
export class SmsDelayed extends Error {
  constructor(
    message: string,
    /** Shortest pause before a retry. */
    readonly seconds: number,
  ) {
    super(message);
  }
}

/** A provider of telephone numbers that receives and sends texts. */
export interface Telephony {
  readonly name: string;
  /** Name of the header with the signature of its requests, in lower case. */
  readonly signatureHeader: string;
  /** Values that cannot be valid, judged by their form alone. */
  malformed(line: Partial<TelephonyLine>): LineProblem[];
  /**
   * Asks the provider whether the account, its number and its messaging service exist.
   * @returns the first value that is wrong; undefined if all are right
   * @throws Error if the provider does not answer
   */
  check(line: TelephonyLine, signal: AbortSignal): Promise<LineProblem | undefined>;
  /**
   * Sends a text.
   * @returns the provider's id for it
   * @throws SmsRefused or SmsDelayed if it was not sent; after any other error it may have been sent
   */
  send(line: TelephonyLine, sms: OutgoingSms, signal: AbortSignal): Promise<string>;
  /**
   * Finds a text that was sent at or after `since` and is not in `known`.
   * @returns the provider's id for it; undefined if there is none
   * @throws Error if the provider does not answer
   */
  find(
    line: TelephonyLine,
    sms: OutgoingSms,
    sent: { readonly since: Date; readonly known: readonly string[] },
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /**
   * Deletes a received or sent text; does nothing if it does not exist.
   * @throws TextRefused if it cannot be deleted; any other error is worth a retry
   */
  erase(line: TelephonyLine, messageSid: string, signal: AbortSignal): Promise<void>;
  /**
   * The provider's ids of the texts exchanged with a person.
   * @throws Error if the provider does not answer
   */
  exchanged(line: TelephonyLine, exchange: Exchange, signal: AbortSignal): Promise<string[]>;
  /**
   * Whether a request was signed with the account's token.
   * @param url the address as the provider knows it, including its query
   */
  signed(authToken: string, url: string, parameters: Parameters, signature: string): boolean;
  /** Reads a received text from a request; undefined if it contains none. */
  read(parameters: Parameters): ReceivedSms | undefined;
  /** Reads a delivery report from a request; undefined if it contains none. */
  readStatus(parameters: Parameters): SmsStatus | undefined;
  /** The response to a request, with zero or more texts to send back. */
  answer(texts: readonly string[]): { readonly type: string; readonly body: string };
  close(): Promise<void>;
}
