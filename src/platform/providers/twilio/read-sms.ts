import type { Parameters, ReceivedSms } from "../../ports/telephony";

const WORDS = ["STOP", "START", "HELP"] as const;
/** Ids have 34 characters; numbers and names, also of other services, fewer. */
const LONGEST_NAME = 80;
/** A text comes with at most this many media. */
const MOST_MEDIA = 10;

/** Reads the text that a request of Twilio's brings; undefined if it holds none. */
export function readSms(parameters: Parameters): ReceivedSms | undefined {
  const values = new Map(parameters);
  const value = (name: string) => (values.get(name) ?? "").replaceAll("\0", "").toWellFormed();
  const [messageSid, to, from] = [value("MessageSid") || value("SmsSid"), value("To"), value("From")];
  if ([messageSid, to, from].some((name) => name === "" || name.length > LONGEST_NAME)) return undefined;
  const answered = WORDS.find((word) => word === value("OptOutType").toUpperCase());
  const media = Number(value("NumMedia"));
  const attachments = Number.isSafeInteger(media) && media > 0 ? media : 0;
  const types = Array.from({ length: Math.min(attachments, MOST_MEDIA) }, (_, index) =>
    value(`MediaContentType${index}`).slice(0, LONGEST_NAME),
  );
  return {
    messageSid,
    to,
    from,
    text: value("Body").trim(),
    attachments,
    ...(attachments > 0 && { attachmentTypes: types.filter((type) => type !== "") }),
    ...(answered && { answered }),
  };
}
