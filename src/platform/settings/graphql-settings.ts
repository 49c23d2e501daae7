import { z } from "zod";
import { flag, oneOf } from "./setting-kinds";

/** Settings of the GraphQL interface. */
export const GRAPHQL_SETTINGS = {
  GRAPHQL_INTROSPECTION: [flag.default(true), "`on`", "Whether GraphQL introspection is allowed."],
  GRAPHQL_PERSISTED: [
    oneOf("off", "allow", "only").default("off"),
    "`off`",
    "Persisted operations of `GRAPHQL_PERSISTED_MANIFEST`: `allow` runs them by id, beside all other documents; `only` refuses all other documents.",
  ],
  GRAPHQL_PERSISTED_MANIFEST: [
    z.string().min(1).optional(),
    "none",
    "JSON file of the persisted operations, in the format of Apollo's persisted query manifests.",
  ],
} as const satisfies Record<string, readonly [z.ZodType, string, string]>;

interface Values {
  readonly GRAPHQL_PERSISTED: "off" | "allow" | "only";
  readonly GRAPHQL_PERSISTED_MANIFEST?: string | undefined;
}

/** Problems of these settings together. */
export function graphqlProblems({
  GRAPHQL_PERSISTED: mode,
  GRAPHQL_PERSISTED_MANIFEST: file,
}: Values): string[] {
  if (mode === "off" && file !== undefined)
    return ["GRAPHQL_PERSISTED_MANIFEST also needs GRAPHQL_PERSISTED: set it to allow or only"];
  if (mode !== "off" && file === undefined)
    return [`GRAPHQL_PERSISTED=${mode} also needs GRAPHQL_PERSISTED_MANIFEST`];
  return [];
}
