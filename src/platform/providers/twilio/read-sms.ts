import type { Parameters, ReceivedSms } from "../../ports/telephony";

const KEYWORDS = ["STOP", "START", "HELP"] as const;
/** Longest id, number or media type; ids have 34 characters. */
const MAX_VALUE_LENGTH = 80;
/** Media files per text, by Twilio's limit. */
const MAX_MEDIA = 10;

/** Reads a received text from Twilio's request; undefined if it contains none. */
export function readSms(parameters: Parameters): ReceivedSms | undefined {
  const values = new Map(parameters);
  const value = (name: string) => (values.get(name) ?? "").replaceAll("\0", "").toWellFormed();
  const [messageSid, to, from] = [value("MessageSid") || value("SmsSid"), value("To"), value("From")];
  if ([messageSid, to, from].some((one) => one === "" || one.length > MAX_VALUE_LENGTH)) return undefined;
  const answered = KEYWORDS.find((word) => word === value("OptOutType").toUpperCase());
  const media = Number(value("NumMedia"));
  const attachments = Number.isSafeInteger(media) && media > 0 ? media : 0;
  const types = Array.from({ length: Math.min(attachments, MAX_MEDIA) }, (_, index) =>
    value(`MediaContentType${index}`).slice(0, MAX_VALUE_LENGTH),
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
