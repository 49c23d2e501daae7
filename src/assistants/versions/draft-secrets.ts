import type { Scope } from "../../platform/database/scope";
import { secretsOfStored, type SecretsBySlot } from "../history/function-secrets";
import { SecretSlots } from "../history/secret-slots";
import { unclearSlotsIn, withClearRequests } from "../history/twin-functions";
import type { CheckedDocument } from "./checked-document";
import { changedSecrets } from "./copied-secrets";
import { functionsIn, nameOf, type DocumentValues } from "./document";
import { liveValues } from "./live-values";

/** A draft as it is stored, as far as it has secrets. */
interface DraftSecrets {
  readonly assistantId: string;
  readonly content: DocumentValues;
  readonly sealedSecrets: string | null;
}

/** The secrets of the functions in a draft. */
export function secretsOfDraft(scope: Scope, draft: DraftSecrets | undefined): SecretsBySlot {
  if (!draft?.sealedSecrets) return {};
  const text = scope.ports.crypto.open(draft.sealedSecrets, contextOf(scope, draft.assistantId));
  return secretsOfStored(JSON.parse(text) as SecretsBySlot); // as `sealed` wrote it
}

/**
 * The columns of a draft with values that are added to it. Warns the caller about functions that ask for a secret which is not
 * stored, or of which it is unclear whose it is.
 */
export async function columnsWith(
  scope: Scope,
  assistantId: string,
  draft: DraftSecrets | undefined,
  { values, secrets: given }: CheckedDocument,
): Promise<Pick<DraftSecrets, "content" | "sealedSecrets">> {
  const current = await scope.of(SecretSlots).current(assistantId);
  const former = secretsOfDraft(scope, draft);
  const secrets = { ...former, ...given };
  const functions = functionsIn(values);
  const live = functions.length > 0 ? await liveValues(scope, assistantId) : {};
  const content: Record<string, unknown> = { ...draft?.content, ...values };
  const kept: string[] = [];
  for (const [kind, asking] of functions) {
    const name = nameOf(kind, "functions");
    const [before, now] = [draft?.content[name] ?? live[name], live[name]] as [string, string];
    const known = { functions: before, secrets: { ...current, ...former } };
    const text = withClearRequests(scope, kind, asking, known, given);
    content[name] = text;
    kept.push(...unclearSlotsIn(kind, text, { functions: now, secrets: current }));
  }
  return { content, sealedSecrets: sealed(scope, assistantId, changedSecrets(current, secrets, kept)) };
}

function sealed(scope: Scope, assistantId: string, secrets: SecretsBySlot): string | null {
  if (Object.keys(secrets).length === 0) return null;
  return scope.ports.crypto.seal(JSON.stringify(secrets), contextOf(scope, assistantId));
}

const contextOf = (scope: Scope, assistantId: string): string =>
  `${scope.organizationId}/assistant_drafts/${assistantId}`;
