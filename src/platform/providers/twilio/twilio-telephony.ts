import type {
  Exchange,
  LineProblem,
  OutgoingSms,
  Telephony,
  TelephonyAccount,
  TelephonyLine,
} from "../../ports/telephony";
import { SmsDelayed, SmsRefused, TextRefused } from "../../ports/telephony";
import { expectOk, list, parseBody, reasonOf, type Answer } from "./answers";
import { readSms } from "./read-sms";
import { readStatus } from "./read-status";
import { isSigned } from "./signature";
import { twiml } from "./twiml";

interface Addresses {
  readonly api: string;
  readonly messaging: string;
}

/** A text in Twilio's list, with the fields that are used. */
interface ListedMessage {
  readonly sid: string;
  readonly body?: string;
  readonly direction?: string;
  readonly date_created?: string;
}

const FORMS: readonly (readonly [keyof TelephonyLine, RegExp, string])[] = [
  ["phoneNumber", /^\+[1-9]\d{6,14}$/, "must be in E.164 form, such as +14155550132"],
  ["accountSid", /^AC[0-9a-fA-F]{32}$/, "must be AC and 32 hexadecimal digits"],
  ["authToken", /^[\x21-\x7e]{8,200}$/, "must be 8 to 200 printable characters without spaces"],
  ["messagingServiceSid", /^MG[0-9a-fA-F]{32}$/, "must be MG and 32 hexadecimal digits"],
];
/** Page size for the senders of a messaging service; only one page is read. */
const SENDERS_PAGE_SIZE = 1_000;
/** Number of recent texts that are searched for a sent one. */
const MAX_SEARCHED_TEXTS = 100;
/** Tolerance for differences between Twilio's clock and ours. */
const CLOCK_TOLERANCE_MS = 60_000;
/** Page size of the list of texts to delete. */
const EXCHANGED_PAGE_SIZE = 1_000;
const DAY_MS = 86_400_000;
/** Twilio's error code for a text whose delivery is not finished. */
const IN_DELIVERY_CODE = 20_009;
/** Pause before a retry if Twilio names none. */
const RETRY_PAUSE_SECONDS = 5;
const MAX_RETRY_PAUSE_SECONDS = 3_600;
/** Statuses after which the same request may succeed later. */
const RETRYABLE_STATUSES = [408, 425, 429];

/** Telephony by Twilio's REST APIs. @param reach a `fetch` that may reach the configured addresses */
export function twilioTelephony(addresses: Addresses, reach: typeof fetch): Telephony {
  const api = new TwilioApi(addresses, reach);
  return {
    name: "twilio",
    signatureHeader: "x-twilio-signature",
    malformed: (line) =>
      FORMS.flatMap(([path, form, message]) => {
        const value = line[path];
        return value === undefined || form.test(value) ? [] : [{ path, message }];
      }),
    check: (line, signal) => api.check(line, signal),
    send: (line, sms, signal) => api.send(line, sms, signal),
    find: (line, sms, sent, signal) => api.find(line, sms, sent, signal),
    erase: (line, messageSid, signal) => api.erase(line, messageSid, signal),
    exchanged: (line, exchange, signal) => api.exchanged(line, exchange, signal),
    signed: isSigned,
    read: readSms,
    readStatus,
    answer: (texts) => ({ type: "text/xml; charset=utf-8", body: twiml(texts) }),
    close: () => Promise.resolve(),
  };
}

class TwilioApi {
  constructor(
    private readonly addresses: Addresses,
    private readonly reach: typeof fetch,
  ) {}

  async check(line: TelephonyLine, signal: AbortSignal): Promise<LineProblem | undefined> {
    const account = await this.ask(line, signal, `${this.accountUrl(line)}.json`);
    if (account.status === 401 || account.status === 403)
      return { path: "authToken", message: "is not the token of this account: Twilio refuses it" };
    if (account.status === 404) return { path: "accountSid", message: "is not an account at Twilio" };
    expectOk(account);
    if (account.body.status !== "active")
      return { path: "accountSid", message: `is ${String(account.body.status)} at Twilio` };
    return (await this.checkNumber(line, signal)) ?? this.checkService(line, signal);
  }

  private async checkNumber(line: TelephonyLine, signal: AbortSignal): Promise<LineProblem | undefined> {
    const query = new URLSearchParams({ PhoneNumber: line.phoneNumber });
    const url = `${this.accountUrl(line)}/IncomingPhoneNumbers.json?${query.toString()}`;
    const { body } = expectOk(await this.ask(line, signal, url));
    const numbers = list(body.incoming_phone_numbers) as {
      phone_number?: string;
      capabilities?: { sms?: boolean };
    }[];
    // Twilio also lists numbers that only contain the queried one.
    const own = numbers.find(({ phone_number: number }) => number === line.phoneNumber);
    if (!own) return { path: "phoneNumber", message: "is not a number of this account" };
    return line.messagingServiceSid !== undefined && own.capabilities?.sms === false
      ? { path: "phoneNumber", message: "does not support SMS" }
      : undefined;
  }

  private async checkService(line: TelephonyLine, signal: AbortSignal): Promise<LineProblem | undefined> {
    const { messagingServiceSid: sid, phoneNumber } = line;
    if (sid === undefined) return undefined;
    const url = `${this.addresses.messaging}/v1/Services/${sid}/PhoneNumbers?PageSize=${SENDERS_PAGE_SIZE}`;
    const answer = await this.ask(line, signal, url);
    if (answer.status === 404)
      return { path: "messagingServiceSid", message: "is not a messaging service of this account" };
    const senders = list(expectOk(answer).body.phone_numbers) as { phone_number?: string }[];
    return senders.some(({ phone_number: number }) => number === phoneNumber)
      ? undefined
      : { path: "messagingServiceSid", message: "is a messaging service without this number" };
  }

  async send(
    line: TelephonyLine,
    { to, body, statusUrl }: OutgoingSms,
    signal: AbortSignal,
  ): Promise<string> {
    const form = new URLSearchParams({ To: to, From: line.phoneNumber, Body: body });
    if (line.messagingServiceSid !== undefined) form.set("MessagingServiceSid", line.messagingServiceSid);
    if (statusUrl !== undefined) form.set("StatusCallback", statusUrl);
    const answer = await this.ask(line, signal, `${this.accountUrl(line)}/Messages.json`, form);
    const { status, retryAfterSeconds } = answer;
    if (RETRYABLE_STATUSES.includes(status))
      throw new SmsDelayed(`Twilio answered with status ${status}.`, retryAfterSeconds);
    if (status >= 400 && status < 500) throw new SmsRefused(reasonOf(answer));
    const { sid } = expectOk(answer).body;
    if (typeof sid !== "string") throw new Error("Twilio answered without the id of the text.");
    return sid;
  }

  async find(
    line: TelephonyLine,
    { to, body }: OutgoingSms,
    { since, known }: { readonly since: Date; readonly known: readonly string[] },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const query = new URLSearchParams({
      To: to,
      From: line.phoneNumber,
      PageSize: String(MAX_SEARCHED_TEXTS),
    });
    const url = `${this.accountUrl(line)}/Messages.json?${query.toString()}`;
    const messages = list(expectOk(await this.ask(line, signal, url)).body.messages) as ListedMessage[];
    const from = since.getTime() - CLOCK_TOLERANCE_MS;
    return messages.find(
      (one) =>
        one.body === body &&
        one.direction !== "inbound" &&
        !known.includes(one.sid) &&
        Date.parse(one.date_created ?? "") >= from,
    )?.sid;
  }

  async erase(line: TelephonyLine, messageSid: string, signal: AbortSignal): Promise<void> {
    const url = `${this.accountUrl(line)}/Messages/${encodeURIComponent(messageSid)}.json`;
    const answer = await this.ask(line, signal, url, "DELETE");
    const { status } = answer;
    if (status === 404) return;
    // A text in delivery can be deleted later.
    const later =
      status === 409 || answer.body.code === IN_DELIVERY_CODE || RETRYABLE_STATUSES.includes(status);
    if (status >= 400 && status < 500 && !later) throw new TextRefused(reasonOf(answer));
    expectOk(answer);
  }

  async exchanged(
    line: TelephonyLine,
    { phoneNumber, from, to }: Exchange,
    signal: AbortSignal,
  ): Promise<string[]> {
    const [first, last] = [from.getTime() - CLOCK_TOLERANCE_MS, to.getTime() + CLOCK_TOLERANCE_MS];
    const found: string[] = [];
    for (const [From, To] of [
      [phoneNumber, line.phoneNumber],
      [line.phoneNumber, phoneNumber],
    ] as const)
      for await (const { sid, date_created: at } of this.listed(line, { From, To }, [first, last], signal)) {
        const created = Date.parse(at ?? "");
        if (created >= first && created <= last) found.push(sid);
      }
    return found;
  }

  /** Lists texts. Twilio filters by the day of sending, which may differ from the day of creation: one day more is listed at both ends. */
  private async *listed(
    line: TelephonyLine,
    numbers: Readonly<Record<"From" | "To", string>>,
    [first, last]: readonly [number, number],
    signal: AbortSignal,
  ): AsyncGenerator<ListedMessage> {
    const day = (time: number) => new Date(time).toISOString().slice(0, 10);
    const query = new URLSearchParams({ ...numbers, PageSize: String(EXCHANGED_PAGE_SIZE) });
    query.set("DateSent>", day(first - DAY_MS));
    query.set("DateSent<", day(last + DAY_MS));
    let next: string | undefined = `${this.accountUrl(line)}/Messages.json?${query.toString()}`;
    while (next !== undefined) {
      const { body } = expectOk(await this.ask(line, signal, next));
      yield* list(body.messages) as ListedMessage[];
      const uri = body.next_page_uri;
      next = typeof uri === "string" && uri.startsWith("/") ? this.addresses.api + uri : undefined;
    }
  }

  private accountUrl({ accountSid }: TelephonyAccount): string {
    return `${this.addresses.api}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}`;
  }

  private async ask(
    { accountSid, authToken }: TelephonyAccount,
    signal: AbortSignal,
    url: string,
    given?: URLSearchParams | "DELETE",
  ): Promise<Answer> {
    const form = given === "DELETE" ? undefined : given;
    const credentials = Buffer.from(`${accountSid}:${authToken}`).toString("base64");
    const answer = await this.reach(url, {
      method: form ? "POST" : given === "DELETE" ? "DELETE" : "GET",
      headers: {
        authorization: `Basic ${credentials}`,
        accept: "application/json",
        ...(form && { "content-type": "application/x-www-form-urlencoded" }),
      },
      ...(form && { body: form.toString() }),
      signal,
    });
    const seconds = Number(answer.headers.get("retry-after") ?? RETRY_PAUSE_SECONDS);
    const retryAfterSeconds = Number.isFinite(seconds)
      ? Math.min(Math.max(seconds, 1), MAX_RETRY_PAUSE_SECONDS)
      : RETRY_PAUSE_SECONDS;
    return { status: answer.status, retryAfterSeconds, body: parseBody(await answer.text()) };
  }
}
