import { v7 } from "uuid";

/** A new identifier: opaque text that sorts by the time it was made. */
export const newId = (): string => v7();
