import type { Parameters, SmsStatus } from "../../ports/telephony";

/** Ids have 34 characters; numbers and error codes fewer. */
const LONGEST_WORD = 80;
/** Of a text's way out; one that came in has the status `received`. */
const STATUSES = /^(accepted|queued|sending|sent|delivered|read|undelivered|failed|canceled)$/;

/** Reads Twilio's report of a text's delivery; undefined if it holds none. */
export function readStatus(parameters: Parameters): SmsStatus | undefined {
  const values = new Map(parameters);
  const word = (name: string) => (values.get(name) ?? "").replaceAll("\0", "").toWellFormed();
  const messageSid = word("MessageSid") || word("SmsSid");
  const [from, status] = [word("From"), (word("MessageStatus") || word("SmsStatus")).toLowerCase()];
  if ([messageSid, from].some((name) => name === "" || name.length > LONGEST_WORD)) return undefined;
  if (!STATUSES.test(status)) return undefined;
  const errorCode = word("ErrorCode").slice(0, LONGEST_WORD);
  return { messageSid, from, status, ...(errorCode !== "" && { errorCode }) };
}
