import type { GraphQLField } from "graphql";
import { Extensions } from "type-graphql";

/** Milliseconds that an operation may take when it does not say. */
const USUAL = 10_000;

/** For pages of records that may be large: a hundred of 1 MiB are read part by part. */
export const PAGE_DEADLINE_MS = 60_000;

/** How long an operation may take, where that is more than the usual 10 s. */
export const Deadline = (milliseconds: number): ReturnType<typeof Extensions> =>
  Extensions({ deadline: milliseconds });

export const deadlineOf = ({ extensions }: Pick<GraphQLField<unknown, unknown>, "extensions">): number =>
  (extensions.deadline as number | undefined) ?? USUAL; // only Deadline writes this extension
