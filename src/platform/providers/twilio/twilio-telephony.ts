import type {
  Exchange,
  LineProblem,
  OutgoingSms,
  Telephony,
  TelephonyAccount,
  TelephonyLine,
} from "../../ports/telephony";
import { SmsDelayed, SmsRefused, TextRefused } from "../../ports/telephony";
import { expectOk, list, parsed, reasonOf, type Answer } from "./answers";
import { readSms } from "./read-sms";
import { readStatus } from "./read-status";
import { isSigned } from "./signature";
import { twiml } from "./twiml";

interface Addresses {
  readonly api: string;
  readonly messaging: string;
}

/** What of a text in Twilio's list is looked at. */
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
/** Most senders of a messaging service in one list, and most texts that are looked through for one. */
const SENDERS = 1_000;
const LISTED = 100;
/** Clocks differ: texts are looked for from this long before they were asked for, in milliseconds. */
const CLOCKS = 60_000;
/** Most texts in one list of those to delete. */
const ERASED = 1_000;
const DAY_MS = 86_400_000;
/** Twilio's code for a text that it still delivers. */
const IN_DELIVERY = 20_009;
/** When Twilio does not say when to ask again, in seconds. */
const PAUSE = 5;
/** Statuses after which the same request may go well. */
const LATER = [408, 425, 429];

/** Telephone numbers and texts by Twilio's REST APIs. @param reach goes to the addresses that the settings name */
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
    if (account.status === 404) return { path: "accountSid", message: "is no account of Twilio's" };
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
    // Twilio takes the query as a part of numbers.
    const own = numbers.find(({ phone_number: number }) => number === line.phoneNumber);
    if (!own) return { path: "phoneNumber", message: "is no number of this account" };
    return line.messagingServiceSid !== undefined && own.capabilities?.sms === false
      ? { path: "phoneNumber", message: "takes no SMS" }
      : undefined;
  }

  private async checkService(line: TelephonyLine, signal: AbortSignal): Promise<LineProblem | undefined> {
    const { messagingServiceSid: sid, phoneNumber } = line;
    if (sid === undefined) return undefined;
    const url = `${this.addresses.messaging}/v1/Services/${sid}/PhoneNumbers?PageSize=${SENDERS}`;
    const answer = await this.ask(line, signal, url);
    if (answer.status === 404)
      return { path: "messagingServiceSid", message: "is no messaging service of this account" };
    const senders = list(expectOk(answer).body.phone_numbers) as { phone_number?: string }[];
    return senders.some(({ phone_number: number }) => number === phoneNumber)
      ? undefined
      : { path: "messagingServiceSid", message: "is a messaging service that does not have this number" };
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
    const { status, retryAfter } = answer;
    if (LATER.includes(status)) throw new SmsDelayed(`Twilio answered with status ${status}.`, retryAfter);
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
    const query = new URLSearchParams({ To: to, From: line.phoneNumber, PageSize: String(LISTED) });
    const url = `${this.accountUrl(line)}/Messages.json?${query.toString()}`;
    const messages = list(expectOk(await this.ask(line, signal, url)).body.messages) as ListedMessage[];
    const from = since.getTime() - CLOCKS;
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
    // A text that is on its way can be deleted once it has arrived.
    const later = status === 409 || answer.body.code === IN_DELIVERY || LATER.includes(status);
    if (status >= 400 && status < 500 && !later) throw new TextRefused(reasonOf(answer));
    expectOk(answer);
  }

  async exchanged(
    line: TelephonyLine,
    { phoneNumber, from, to }: Exchange,
    signal: AbortSignal,
  ): Promise<string[]> {
    const [first, last] = [from.getTime() - CLOCKS, to.getTime() + CLOCKS];
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

  /** Twilio takes days: those before and after are listed too, as a text may be sent on another day than it is made. */
  private async *listed(
    line: TelephonyLine,
    numbers: Readonly<Record<"From" | "To", string>>,
    [first, last]: readonly [number, number],
    signal: AbortSignal,
  ): AsyncGenerator<ListedMessage> {
    const day = (time: number) => new Date(time).toISOString().slice(0, 10);
    const query = new URLSearchParams({ ...numbers, PageSize: String(ERASED) });
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
    const seconds = Number(answer.headers.get("retry-after") ?? PAUSE);
    const retryAfter = Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), 3_600) : PAUSE;
    return { status: answer.status, retryAfter, body: parsed(await answer.text()) };
  }
}
