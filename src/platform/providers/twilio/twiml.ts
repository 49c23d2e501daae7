const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
/** Characters that XML cannot represent. */

const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(NOT_XML, "")
    .replace(/[&<>]/g, (character) => ENTITIES[character]!);

/** A TwiML document with zero or more texts for Twilio to send back. */
export const twiml = (texts: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Response>${texts
    .map((text) => `<Message>${escapeXml(text)}</Message>`)
    .join("")}</Response>`;
