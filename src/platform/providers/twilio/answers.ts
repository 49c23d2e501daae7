/** A response of Twilio. */
export interface Answer {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Longest part of Twilio's error message that is reported. */
const MAX_REASON_LENGTH = 300;

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

export function parseBody(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Twilio's error message. It never contains the request, which includes the token. */
export const reasonOf = ({ status, body: { code, message } }: Answer): string =>
  `Twilio answered with status ${status}${typeof code === "number" ? `, error ${code}` : ""}: ${typeof message === "string" ? message.slice(0, MAX_REASON_LENGTH) : "no reason was given"}`;

export function expectOk(answer: Answer): Answer {
  if (answer.status < 200 || answer.status > 299) throw new Error(reasonOf(answer));
  return answer;
}
