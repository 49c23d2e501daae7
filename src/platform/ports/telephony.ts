/** A customer's account at the provider. */
export interface TelephonyAccount {
  readonly accountSid: string;
  readonly authToken: string;
}

/** A number of the account, and how texts go out from it. */
export interface TelephonyLine extends TelephonyAccount {
  /** E.164. */
  readonly phoneNumber: string;
  /** Sends texts; without it they go out from the number alone. */
  readonly messagingServiceSid?: string;
}

/** Which of the given values the provider does not take, and why. */
export interface LineProblem {
  readonly path: "accountSid" | "authToken" | "phoneNumber" | "messagingServiceSid";
  readonly message: string;
}

/** The parameters of a request of the provider's, in the order in which they came. */
export type Parameters = readonly (readonly [name: string, value: string])[];

/** A text that came in. */
export interface ReceivedSms {
  /** The provider's id of it: the same in each delivery. */
  readonly messageSid: string;
  /** The number that was texted, and who texted it. */
  readonly to: string;
  readonly from: string;
  readonly text: string;
  /** How many pictures and the like came with it. */
  readonly attachments: number;
  /** Their media types, such as image/jpeg, if the provider tells. */
  readonly attachmentTypes?: readonly string[];
  /** A word such as STOP that the provider answered by itself. */
  readonly answered?: "STOP" | "START" | "HELP";
}

/** A text to send. */
export interface OutgoingSms {
  readonly to: string;
  readonly body: string;
  /** Where its delivery is reported to. */
  readonly statusUrl?: string;
}

/** What the provider reports of a text that it took. */
export interface SmsStatus {
  readonly messageSid: string;
  /** The number that it goes out from. */
  readonly from: string;
  /** Such as sent, delivered, undelivered, failed. */
  readonly status: string;
  readonly errorCode?: string;
}

/** The provider said that it sends no such text: asking again is of no use. */
export class SmsRefused extends Error {}

/** The provider said that it does not delete a text: asking again is of no use. */
export class TextRefused extends Error {}

/** Texts with a person, in both directions, at a time. */
export interface Exchange {
  readonly phoneNumber: string;
  readonly from: Date;
  readonly to: Date;
}

/** The provider has too much to do: it is to be asked again, not before a moment. */
export class SmsDelayed extends Error {
  constructor(
    message: string,
    /** In seconds. */
    readonly seconds: number,
  ) {
    super(message);
  }
}

/** Whoever has telephone numbers, and takes and sends texts for them. */
export interface Telephony {
  readonly name: string;
  /** The header that signs its requests, in lower case. */
  readonly signatureHeader: string;
  /** Why a value can't be one of the provider's, by its form alone. */
  malformed(line: Partial<TelephonyLine>): LineProblem[];
  /**
   * Asks the provider for the account, its number and its messaging service.
   * @returns what of it is wrong; undefined when all is well
   * @throws Error when the provider does not answer
   */
  check(line: TelephonyLine, signal: AbortSignal): Promise<LineProblem | undefined>;
  /**
   * Sends a text.
   * @returns the provider's id of it
   * @throws SmsRefused when it was not sent; SmsDelayed; any other error leaves open whether it was sent
   */
  send(line: TelephonyLine, sms: OutgoingSms, signal: AbortSignal): Promise<string>;
  /**
   * A text that was sent at or after a moment, which is none of those in `known`.
   * @returns the provider's id of it; undefined where there is none
   * @throws Error when the provider does not answer
   */
  find(
    line: TelephonyLine,
    sms: OutgoingSms,
    sent: { readonly since: Date; readonly known: readonly string[] },
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /**
   * Deletes a text that came in or went out; nothing happens when there is none.
   * @throws TextRefused; any other error when it may be deleted later
   */
  erase(line: TelephonyLine, messageSid: string, signal: AbortSignal): Promise<void>;
  /**
   * The provider's ids of the texts that were exchanged with a person.
   * @throws Error when the provider does not answer
   */
  exchanged(line: TelephonyLine, exchange: Exchange, signal: AbortSignal): Promise<string[]>;
  /**
   * Whether the owner of the account's token made a request.
   * @param url as the provider knows it, with its query
   */
  signed(authToken: string, url: string, parameters: Parameters, signature: string): boolean;
  /** Reads a request; undefined where it holds no text. */
  read(parameters: Parameters): ReceivedSms | undefined;
  /** Reads a report of a text's delivery; undefined if it holds none. */
  readStatus(parameters: Parameters): SmsStatus | undefined;
  /** The body that answers a request: texts to send back, which may be none. */
  answer(texts: readonly string[]): { readonly type: string; readonly body: string };
  close(): Promise<void>;
}
