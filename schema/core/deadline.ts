import type { GraphQLField } from "graphql";
import { Extensions } from "type-graphql";

/** Deadline of operations that set none. */
const DEFAULT_DEADLINE_MS = 10_000;

/** For pages of large records: a hundred records of 1 MiB are read in parts. */
export const PAGE_DEADLINE_MS = 60_000;

/** Sets the deadline of an operation that may take longer than the default of 10 s. */
export const Deadline = (milliseconds: number): ReturnType<typeof Extensions> =>
  Extensions({ deadline: milliseconds });

export const deadlineOf = ({ extensions }: Pick<GraphQLField<unknown, unknown>, "extensions">): number =>
  (extensions.deadline as number | undefined) ?? DEFAULT_DEADLINE_MS; // only Deadline writes this extension
