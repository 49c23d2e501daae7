/** A pattern for `ilike` that matches texts with this part. */
export const containing = (part: string): string => `%${part.replace(/[\\%_]/g, "\\$&")}%`;
