import type { TypedDocument } from "../typed-document";
import { token } from "./session";

/** The token is missing or no longer valid. */
export class ExpiredTokenError extends Error {}

interface Answer<T> {
  readonly data?: T;
  readonly errors?: readonly { readonly message: string }[];
}

/** The data of an answer without errors: its root fields have values. */
type Complete<T> = { readonly [K in keyof T]: NonNullable<T[K]> };

/** Runs an operation with the token. @throws ExpiredTokenError; Error with a sentence for the viewer */
export async function graphql<T, V>(query: TypedDocument<T, V>, variables: NoInfer<V>): Promise<Complete<T>> {
  const bearer = token();
  if (bearer === null) throw new ExpiredTokenError();
  const answer = await send(query, variables, { Authorization: `Bearer ${bearer}` });
  if (answer.status === 401) throw new ExpiredTokenError();
  return dataOf(answer);
}

/** Runs an operation with an API key. @throws Error with a sentence for the viewer */
export const graphqlByKey = async <T, V>(
  key: string,
  query: TypedDocument<T, V>,
  variables: NoInfer<V>,
): Promise<Complete<T>> => dataOf(await send(query, variables, { "X-API-Key": key }));

function send(query: unknown, variables: unknown, credential: Record<string, string>): Promise<Response> {
  return fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...credential },
    body: JSON.stringify({ query, variables }),
  }).catch(() => {
    throw new Error("The server cannot be reached. Try again shortly.");
  });
}

async function dataOf<T>(response: Response): Promise<Complete<T>> {
  const { data, errors } = (await response.json().catch(() => ({}))) as Answer<T>;
  if (errors?.[0]) throw new Error(errors[0].message);
  if (!data) throw new Error(`The server answered with status ${response.status}.`);
  return data as Complete<T>;
}
