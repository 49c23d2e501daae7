import type { Scope } from "../../platform/database/scope";

const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

/** Warns about a secret of the form of Standard Webhooks that its libraries refuse. */
export function warnOfSecret(scope: Scope, secret: string): void {
  const [, encoded] = /^whsec_(.*)$/s.exec(secret) ?? [];
  if (encoded === undefined || (encoded !== "" && BASE64.test(encoded))) return;
  scope.warn(
    "The secret begins with whsec_, but base64 does not follow: libraries for Standard Webhooks refuse it, and the signature uses the whole text as its key. GET /rest/v1/settings/secret (generateWebhookSecret) returns a suitable one.",
  );
}

/** Warns about a destination that gets no events. */
export function warnOfDisabled(scope: Scope, { id, enabled }: { id: string; enabled: boolean }): void {
  if (enabled) return;
  scope.warn(
    `The webhook destination ${id} is disabled, because it answered 410 or has failed for five days: it gets no events. PATCH /rest/v1/settings/{id} (updateWebhookDestination) with its url, or another field, enables it again.`,
  );
}
