import { ANSWER_BOUNDS, LENGTH_BOUNDS, MESSAGE_BOUNDS } from "./histogram";

/** Names of the sums of a histogram's buckets, such as `t0` to `t12`. */
const bucketNames = (letter: string, bounds: readonly number[]) =>
  [0, ...bounds].map((_, index) => `${letter}${index}`);

/** Sums by name, and the value that one conversation adds, as SQL. */
export type Measures = Readonly<Record<string, string>>;

const lengths = (letter: string, column: string, bounds: readonly number[]): Measures =>
  Object.fromEntries(
    bucketNames(letter, bounds).map((name, index) => [
      name,
      `(width_bucket(${column}, array[${bounds.join(", ")}]) = ${index})::integer`,
    ]),
  );

const columns = (...names: string[]): Measures => Object.fromEntries(names.map((name) => [name, name]));

export const ANSWER_TIMES: Measures = Object.fromEntries(
  bucketNames("t", ANSWER_BOUNDS).map((name, index) => [name, `answer_times[${index + 1}]`]),
);
/** Numbers of ended conversations by length, in messages and in seconds. */
export const LENGTHS_IN_MESSAGES = lengths("m", "messages", MESSAGE_BOUNDS);
export const LENGTHS_IN_SECONDS = lengths("s", "seconds", LENGTH_BOUNDS);

export const TOTALS: Measures = {
  conversations: "1",
  ...columns("messages", "seconds", "questions", "answers", "answer_ms", "not_known", "errors", "no_answer"),
};

/** All sums of conversations, which are the columns of `conversation_sums`. */
export const CONVERSATIONS: Measures = {
  ...TOTALS,
  ...ANSWER_TIMES,
  ...LENGTHS_IN_MESSAGES,
  ...LENGTHS_IN_SECONDS,
};

/** Columns of the facts of a conversation, and of a function in it, after the organization. */
export const CONVERSATION_FACTS = `chat_id, assistant_id, channel, started_at, ended_reason, seconds, messages, questions,
  answers, answer_ms, answer_times, not_known, errors, no_answer`;
export const FUNCTION_FACTS = "chat_id, name, assistant_id, channel, started_at, calls, failed";
