import type { Parameters, SmsStatus } from "../../ports/telephony";

/** Longest id, number or error code; ids have 34 characters. */
const MAX_VALUE_LENGTH = 80;
/** Statuses of outgoing texts; received ones have the status `received`. */
const STATUSES = /^(accepted|queued|sending|sent|delivered|read|undelivered|failed|canceled)$/;

/** Reads Twilio's delivery report; undefined if the request contains none. */
export function readStatus(parameters: Parameters): SmsStatus | undefined {
  const values = new Map(parameters);
  const word = (name: string) => (values.get(name) ?? "").replaceAll("\0", "").toWellFormed();
  const messageSid = word("MessageSid") || word("SmsSid");
  const [from, status] = [word("From"), (word("MessageStatus") || word("SmsStatus")).toLowerCase()];
  if ([messageSid, from].some((one) => one === "" || one.length > MAX_VALUE_LENGTH)) return undefined;
  if (!STATUSES.test(status)) return undefined;
  const errorCode = word("ErrorCode").slice(0, MAX_VALUE_LENGTH);
  return { messageSid, from, status, ...(errorCode !== "" && { errorCode }) };
}
