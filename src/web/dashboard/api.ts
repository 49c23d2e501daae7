import type { TypedDocument } from "../typed-document";
import { token } from "./session";

/** The token is missing or no longer valid. */
export class ExpiredTokenError extends Error {}

interface Answer<T> {
  readonly data?: T;
  readonly errors?: readonly { readonly message: string }[];
}

/** Runs an operation. @throws ExpiredTokenError; Error with a sentence for the viewer */
export async function graphql<T, V>(query: TypedDocument<T, V>, variables: NoInfer<V>): Promise<T> {
  const bearer = token();
  if (bearer === null) throw new ExpiredTokenError();
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${bearer}` },
    body: JSON.stringify({ query, variables }),
  }).catch(() => {
    throw new Error("The server cannot be reached. Try again shortly.");
  });
  if (response.status === 401) throw new ExpiredTokenError();
  const { data, errors } = (await response.json().catch(() => ({}))) as Answer<T>;
  if (errors?.[0]) throw new Error(errors[0].message);
  if (!data) throw new Error(`The server answered with status ${response.status}.`);
  return data;
}
