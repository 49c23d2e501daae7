/*
 * Advice about values that are not accepted as a credential, judged by their form alone: it says nothing about stored
 * credentials.
 */

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const KEY_TYPE = { parley_sk_: "SECRET", parley_pk_: "PUBLIC" } as const;
const SEND_CREDENTIAL =
  "Send an API key in X-API-Key, or a token of POST /rest/v1/organization/token in Authorization: Bearer <token>.";

const prefixOf = (value: string): keyof typeof KEY_TYPE | undefined =>
  (["parley_sk_", "parley_pk_"] as const).find((prefix) => value.startsWith(prefix));

/** Characters that are copied along with a key from a file or a program. */
const AROUND = "\"'`<>()[]{},;:=\\ \t";

/** A value without quotes and the like around it. */
function unwrapped(value: string): string {
  let [from, until] = [0, value.length];
  while (from < until && AROUND.includes(value[from]!)) from++;
  while (until > from && AROUND.includes(value[until - 1]!)) until--;
  return value.slice(from, until);
}

/** Advice about a value that has the form of neither a key nor a token. */
function adviceOnBoth(value: string): string | undefined {
  if (UUID.test(value))
    return `This looks like the id of a record. A key is sent by its value, which begins with parley_sk_ or parley_pk_. ${SEND_CREDENTIAL}`;
  return value.startsWith("whsec_")
    ? `This looks like the secret of a webhook. ${SEND_CREDENTIAL}`
    : undefined;
}

/** Advice about a value that no key has. */
export function adviceOnKey(value: string): string {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(value) ?? [];
  if (JWT.test(bearer ?? value))
    return "This looks like a token, not an API key. Send it in Authorization: Bearer <token>.";
  if (bearer !== undefined) return "Send the API key in X-API-Key alone, without the word Bearer.";
  const inner = unwrapped(value);
  if (inner !== value && prefixOf(inner))
    return "This API key has quotes or other characters around it. Send its value alone, beginning with parley_sk_ or parley_pk_.";
  const prefix = prefixOf(value);
  if (prefix && !/^\w{36}$/.test(value.slice(prefix.length)))
    return `This API key is incomplete or mistyped: 36 letters and digits follow ${prefix}. Copy its whole value.`;
  return (
    adviceOnBoth(value) ??
    "This API key is unknown. Check that it belongs to this server, or create another with POST /rest/v1/organization/keys and another key, or on the server: `npm run --silent key:create`."
  );
}

/** Advice about a bearer token that this service has not signed. */
export function adviceOnToken(value: string): string {
  const inner = unwrapped(value);
  if (inner !== value && JWT.test(inner))
    return "This token has quotes or other characters around it. Send its value alone.";
  const prefix = prefixOf(inner);
  if (prefix) return `This looks like a ${KEY_TYPE[prefix]} key, not a token. Send it in X-API-Key.`;
  if (JWT.test(value))
    return "This bearer token is not valid: it was changed, or another server issued it. Request a new token.";
  return (
    adviceOnBoth(value) ??
    `This is not a token: a token has three parts, separated by dots. ${SEND_CREDENTIAL}`
  );
}
