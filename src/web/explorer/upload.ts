import type { FetcherParams } from "@graphiql/toolkit";
import type { ExecutionResult } from "graphql";

/** A variable of type Upload, typed as a file's name and text. */
interface TextFile {
  readonly variable: string;
  readonly name: string;
  readonly content: string;
}

/** The variables of type Upload of a request. */
export function textFilesOf({ query, variables }: FetcherParams): TextFile[] {
  return [...query.matchAll(/\$(\w+)\s*:\s*Upload\b/g)].flatMap(([, variable]) => {
    const { name, content } = Object((variables as Record<string, unknown> | undefined)?.[variable!]);
    return typeof name === "string" && typeof content === "string"
      ? [{ variable: variable!, name, content }]
      : [];
  });
}

/** Sends a request with its files by the GraphQL multipart request specification. */
export async function upload(
  endpoint: URL,
  request: FetcherParams,
  files: readonly TextFile[],
  headers: Record<string, string>,
): Promise<ExecutionResult> {
  const empty = Object.fromEntries(files.map(({ variable }) => [variable, null]));
  const body = new FormData();
  const variables = { ...(request.variables as object), ...empty };
  body.set("operations", JSON.stringify({ ...request, variables }));
  const places = files.map(({ variable }) => [`variables.${variable}`]);
  body.set("map", JSON.stringify({ ...places }));
  files.forEach(({ name, content }, index) =>
    body.set(String(index), new File([content], name, { type: "text/plain" })),
  );
  const response = await fetch(endpoint, {
    method: "POST",
    headers: { ...headers, "apollo-require-preflight": "true" },
    body,
  });
  return (await response.json()) as ExecutionResult;
}
