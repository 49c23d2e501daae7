import { createHash, createHmac, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Prefix of tokens that are refused. */
const WRONG = "wrong-token";
const ACCOUNT = /^\/2010-04-01\/Accounts\/(AC[0-9a-f]{32})(\.json|\/\w+(?:\/\w+)?\.json)$/;
const MESSAGE = /^\/Messages\/((?:SM|MM)[0-9a-f]{32})\.json$/;
const SERVICE = /^\/v1\/Services\/(MG[0-9a-f]{32})\/PhoneNumbers$/;

const SERVICE_SID = /^MG[0-9a-fA-F]{32}$/;

export interface Account {
  readonly phoneNumber: string;
  readonly accountSid: string;
  readonly authToken: string;
}

let numbers = 0;
const hex = (bytes: number) => randomBytes(bytes).toString("hex");

/** A new account with its own number. */
export const newAccount = (): Account => ({
  phoneNumber: `+4144${2_000_000 + (process.pid % 500) * 10_000 + numbers++}`,
  accountSid: `AC${hex(16)}`,
  authToken: hex(16),
});

/** The same account each time for the same seed. */
export function accountOf(seed: string): Account {
  const digest = createHash("sha256").update(seed).digest("hex");
  const digits = (parseInt(digest.slice(0, 10), 16) % 1_000_000).toString().padStart(6, "0");
  return {
    phoneNumber: `+41445${digits}`,
    accountSid: `AC${digest.slice(0, 32)}`,
    authToken: digest.slice(32),
  };
}

/** A text sent by the REST API. */
export interface SentSms {
  readonly sid: string;
  readonly account: string;
  readonly To: string;
  readonly From: string;
  readonly Body: string;
  readonly MessagingServiceSid?: string;
  /** Sent in the answer to a text instead of by the REST API. */
  readonly reply?: boolean;
  /** Received, not sent. */
  readonly inbound?: boolean;
  readonly createdAt: Date;
}

/** Reaction to a request to send a text. */
type Behavior = "takes" | "refuses" | "busy" | "takes in silence" | "takes and hangs" | "breaks";

/**
 * A fake of Twilio's REST API over HTTP, following its OpenAPI description of accounts, their numbers, senders of
 * messaging services and texts. A request that does not match the description is recorded as a problem and gets 400.
 */
export class Twilio {
  readonly sent: SentSms[] = [];
  /** Received texts that have not been deleted. */
  readonly received: SentSms[] = [];
  /** Ids of deleted texts. */
  readonly deleted: string[] = [];
  /** Statuses of the next requests to delete a text; later requests succeed. */
  readonly deletions: number[] = [];
  /** Maximum number of texts on one page of a list. */
  pageSize = 1_000;
  /** Requests that do not match the description. */
  readonly problems: string[] = [];
  /** Reactions to the next requests to send a text; later ones are accepted. */
  readonly behaviors: Behavior[] = [];
  /** Promises by account that must settle before its texts are accepted. */
  readonly held = new Map<string, Promise<void>>();
  /** Number of requests to send a text, accepted or not, by account. */
  readonly brought = new Map<string, number>();
  /** Status of every account. */
  accountStatus = "active";
  /** Whether the account has the requested number, and its messaging services have it as a sender. */
  hasNumber = true;
  hasSender = true;
  private readonly server: Server = createServer((req, res) => void this.answer(req, res));

  private port = 0;

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(this.port, "127.0.0.1", resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Records the texts of a TwiML document as sent. */
  reply({ accountSid, phoneNumber }: Account, To: string, texts: readonly string[]): void {
    for (const Body of texts)
      this.sent.push({
        sid: `SM${hex(16)}`,
        account: accountSid,
        To,
        From: phoneNumber,
        Body,
        reply: true,
        createdAt: new Date(),
      });
  }

  /** Texts sent to a number. */
  sentTo(to: string): SentSms[] {
    return this.sent.filter((sms) => sms.To === to);
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url!, "http://twilio");
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
    const [user = "", password = ""] = Buffer.from(
      /^Basic (\S+)$/.exec(req.headers.authorization ?? "")?.[1] ?? "",
      "base64",
    )
      .toString()
      .split(":");
    const [, account, resource] = ACCOUNT.exec(url.pathname) ?? [];
    if (password.startsWith(WRONG))
      return json(res, 401, { code: 20003, message: "Authenticate", status: 401 });
    if (account !== undefined && account !== user) return json(res, 404, { code: 20404, status: 404 });
    if (resource === ".json" && req.method === "GET")
      return json(res, 200, { sid: account, status: this.accountStatus, friendly_name: "An account" });
    if (resource === "/IncomingPhoneNumbers.json" && req.method === "GET") return this.listNumbers(url, res);
    if (resource === "/Messages.json")
      return req.method === "POST" ? this.create(account!, form, req, res) : this.list(account!, url, res);
    const [, sid] = MESSAGE.exec(resource ?? "") ?? [];
    if (sid !== undefined && req.method === "DELETE") return this.delete(account!, sid, res);
    if (SERVICE.test(url.pathname) && req.method === "GET") return this.listSenders(url, user, res);
    this.refuse(res, `${req.method} ${req.url} is no request of Twilio's API`);
  }

  private listNumbers(url: URL, res: ServerResponse): void {
    const phone_number = url.searchParams.get("PhoneNumber") ?? "";
    const number = {
      sid: `PN${hex(16)}`,
      phone_number,
      capabilities: { sms: true, voice: true, mms: false },
    };
    this.known.add(phone_number);
    json(res, 200, { incoming_phone_numbers: this.hasNumber ? [number] : [], page: 0, page_size: 50 });
  }

  private readonly known = new Set<string>();

  private listSenders(url: URL, account: string, res: ServerResponse): void {
    this.expectOnly(url.searchParams, ["PageSize", "Page", "PageToken"]);
    const senders = [...this.known].map((phone_number) => ({ sid: `PN${hex(16)}`, phone_number }));
    json(res, 200, { phone_numbers: this.hasSender ? senders : [], meta: { key: account } });
  }

  private async create(
    account: string,
    form: URLSearchParams,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { To = "", From = "", Body = "", ...rest } = Object.fromEntries(form) as Record<string, string>;
    if (req.headers["content-type"] !== "application/x-www-form-urlencoded")
      return this.refuse(res, "Messages.json takes a form");
    this.expectOnly(form, ["To", "From", "Body", "MessagingServiceSid", "StatusCallback"]);
    if (!/^\+\d+$/.test(To) || !/^\+\d+$/.test(From)) return this.refuse(res, `To ${To}, From ${From}`);
    if (rest.MessagingServiceSid !== undefined && !SERVICE_SID.test(rest.MessagingServiceSid))
      return this.refuse(res, `MessagingServiceSid ${rest.MessagingServiceSid}`);
    if (Body === "" || Body.length > 1600) return this.refuse(res, `Body has ${Body.length} characters`);
    this.brought.set(account, (this.brought.get(account) ?? 0) + 1);
    await this.held.get(account);
    const behavior = this.behaviors.shift() ?? "takes";
    if (behavior === "refuses")
      return json(res, 400, {
        code: 21610,
        message: "Attempt to send to unsubscribed recipient",
        status: 400,
      });
    if (behavior === "busy")
      return json(res.setHeader("Retry-After", "1"), 429, { code: 20429, status: 429 });
    if (behavior === "breaks") return void res.destroy();
    const sms = { sid: `SM${hex(16)}`, account, To, From, Body, ...rest, createdAt: new Date() };
    this.sent.push(sms);
    if (behavior === "takes and hangs") return;
    if (behavior === "takes in silence") return void (await sleep(50), res.destroy());
    json(res, 201, shown(sms));
  }

  private delete(account: string, sid: string, res: ServerResponse): void {
    const status = this.deletions.shift() ?? 204;
    if (status !== 204)
      return json(res, status, { code: status === 409 ? 20009 : 20003, message: "It is kept.", status });
    const kept = [this.sent, this.received].find((texts) =>
      texts.some((sms) => sms.sid === sid && sms.account === account),
    );
    if (!kept) return json(res, 404, { code: 20404, status: 404 });
    kept.splice(
      kept.findIndex((sms) => sms.sid === sid),
      1,
    );
    this.deleted.push(sid);
    res.writeHead(204).end();
  }

  private list(account: string, url: URL, res: ServerResponse): void {
    this.expectOnly(url.searchParams, ["To", "From", "PageSize", "DateSent>", "DateSent<", "Page"]);
    const { To, From, PageSize = "50", Page = "0" } = Object.fromEntries(url.searchParams);
    const [after, before] = ["DateSent>", "DateSent<"].map((name) => url.searchParams.get(name));
    if (!/^([1-9]\d{0,2}|1000)$/.test(PageSize)) return this.refuse(res, `PageSize ${PageSize}`);
    for (const day of [after, before])
      if (day != null && !/^\d{4}-\d\d-\d\d$/.test(day)) return this.refuse(res, `DateSent ${day}`);
    const day = (sms: SentSms) => sms.createdAt.toISOString().slice(0, 10);
    const found = [...this.sent, ...this.received]
      .filter((sms) => sms.account === account && sms.To === To && sms.From === From)
      .filter((sms) => (after == null || day(sms) >= after) && (before == null || day(sms) <= before))
      .map(shown)
      .reverse();
    const size = Math.min(Number(PageSize), this.pageSize);
    const at = Number(Page) * size;
    const next = new URL(url);
    next.searchParams.set("Page", String(Number(Page) + 1));
    json(res, 200, {
      messages: found.slice(at, at + size),
      page: Number(Page),
      page_size: size,
      next_page_uri: found.length > at + size ? next.pathname + next.search : null,
    });
  }

  private expectOnly(given: URLSearchParams, names: readonly string[]): void {
    for (const name of given.keys())
      if (!names.includes(name)) this.problems.push(`unknown parameter ${name}`);
  }

  private refuse(res: ServerResponse, problem: string): void {
    this.problems.push(problem);
    json(res, 400, { code: 21600, message: problem, status: 400 });
  }
}

const shown = ({ sid, account, To, From, Body, reply, inbound, createdAt }: SentSms) => ({
  sid,
  account_sid: account,
  to: To,
  from: From,
  body: Body,
  status: "queued",
  direction: inbound ? "inbound" : reply ? "outbound-reply" : "outbound-api",
  date_created: createdAt.toUTCString(),
});

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

export type Params = Readonly<Record<string, string>>;

/** Twilio's signature of a request, implemented independently from its documentation. */
export function sign(authToken: string, url: string, params: Params): string {
  let text = url;
  for (const name of Object.keys(params).sort()) text += name + params[name];
  return createHmac("sha1", authToken).update(Buffer.from(text, "utf8")).digest("base64");
}

/** The parameters of an incoming text. */
export const smsOf = (
  { phoneNumber, accountSid }: Account,
  from: string,
  text: string,
  more: Params = {},
): Params => ({
  ToCountry: "CH",
  SmsMessageSid: `SM${hex(16)}`,
  NumMedia: "0",
  Body: text,
  To: phoneNumber,
  From: from,
  AccountSid: accountSid,
  NumSegments: "1",
  ApiVersion: "2010-04-01",
  MessageSid: `SM${hex(16)}`,
  ...more,
});

/** A request and its signature from Twilio's documentation. */
export const signatureVector = {
  authToken: "12345",
  url: "https://mycompany.com/myapp.php?foo=1&bar=2",
  params: {
    CallSid: "CA1234567890ABCDE",
    Caller: "+14158675309",
    Digits: "1234",
    From: "+14158675309",
    To: "+18005551212",
  },
  signature: "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
} as const;
