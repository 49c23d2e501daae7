/** Characters that a header may contain. */
const SENDABLE = /^[\x20-\x7e]+$/;

/** Asks the service, which answers it to every caller with a valid credential. */
const QUERY = "query CheckKey { __typename }";

/** Why the service refuses a key; empty if it accepts the key or cannot be asked. */
export async function refusalOf(key: string): Promise<string> {
  if (!SENDABLE.test(key))
    return "This is no key: it contains characters that no key has. Copy its whole value.";
  try {
    const response = await fetch("/graphql", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": key },
      body: JSON.stringify({ query: QUERY }),
    });
    return response.status === 401 ? ((await response.json()) as { message: string }).message : "";
  } catch {
    return ""; // a query will report what is wrong
  }
}
