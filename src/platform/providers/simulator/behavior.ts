/** Order of callbacks: normal, each twice, each swapped with the next, or status updates late. */
export type Delivery = "plain" | "twice" | "swapped" | "late";

/** Course of a simulated call. */
export interface Behavior {
  readonly name: string;
  /** Outcome of the call; `talks` means that the conversation runs to its end. */
  readonly goes:
    "refused" | "busy" | "unanswered" | "voicemail" | "dropped" | "forwarded" | "talks" | "endless";
  readonly delivery: Delivery;
  /** Duration of the request that places the call, in simulated seconds. */
  readonly placingSeconds: number;
}

const usual: Behavior = { name: "answers", goes: "talks", delivery: "plain", placingSeconds: 0 };

/** Behavior by the last two digits of +1 555 01xx, with or without an area code. */
const BEHAVIORS: Readonly<Record<string, Behavior>> = {
  "00": usual,
  "01": { ...usual, name: "busy", goes: "busy" },
  "02": { ...usual, name: "no answer", goes: "unanswered" },
  "03": { ...usual, name: "voicemail", goes: "voicemail" },
  "04": { ...usual, name: "fails at dialing", goes: "refused" },
  "05": { ...usual, name: "drops in the middle", goes: "dropped" },
  "06": { ...usual, name: "forwards", goes: "forwarded" },
  "07": { ...usual, name: "events late", delivery: "late" },
  "08": { ...usual, name: "events twice", delivery: "twice" },
  "09": { ...usual, name: "events out of order", delivery: "swapped" },
  "10": { ...usual, name: "never ends", goes: "endless" },
  "11": { ...usual, name: "placing takes 20 s", placingSeconds: 20 },
};

const MAGIC_NUMBER = /^\+1(?:\d{3})?55501(\d\d)$/;

export const isMagic = (phoneNumber: string): boolean => MAGIC_NUMBER.test(phoneNumber);

/** Behavior of a call to this number; numbers without a special one answer. */
export const behaviorOf = (phoneNumber: string): Behavior =>
  BEHAVIORS[MAGIC_NUMBER.exec(phoneNumber)?.[1] ?? "00"] ?? usual;
