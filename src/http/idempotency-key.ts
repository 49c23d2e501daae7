import type { IncomingMessage } from "node:http";
import { invalid } from "../platform/errors";

/** The parts of a caller that keep their keys apart from those of others. */
interface Owner {
  readonly kind: string;
  readonly userId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly limits?: unknown;
  readonly visitor?: { readonly id: string } | { readonly chatId: string } | undefined;
}

/** The header Idempotency-Key of a request. @throws BAD_USER_INPUT if it is malformed */
export function idempotencyKey({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const { "idempotency-key": key } = headers;
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !/^[\x20-\x7e]{1,255}$/.test(key))
    throw invalid([{ path: "Idempotency-Key", message: "must be 1 to 255 printable ASCII characters" }]);
  return key;
}

/**
 * The key under which an answer is stored. The caller is part of it, because an answer may contain data that other
 * callers must not see.
 * @param field response key of the root field of a mutation whose result this is; without one, the whole request
 */
export const storedKey = (caller: Owner | undefined, key: string, field?: string): string =>
  JSON.stringify([
    caller?.kind,
    caller?.userId,
    key,
    ...(caller?.limits ? [caller.keyId] : []),
    ...(caller?.visitor
      ? [{ visitor: "id" in caller.visitor ? caller.visitor.id : caller.visitor.chatId }]
      : []),
    ...(field === undefined ? [] : [{ field }]),
  ]);
