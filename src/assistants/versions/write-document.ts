import { isDeepStrictEqual } from "node:util";
import { currentDate } from "../../platform/clock";
import { encoded } from "../../platform/database/values/encoded";
import type { Scope } from "../../platform/database/scope";
import { counted } from "../../platform/errors";
import { Assistants } from "../assistants/assistants";
import { CONFIGURATIONS } from "../configurations/configurations";
import { storedSlotsIn, withSecrets, type SecretsBySlot } from "../history/function-secrets";
import { SecretSlots } from "../history/secret-slots";
import { withClearRequests } from "../history/twin-functions";
import { VersionKeeper, type KeptVersion } from "../history/version-keeper";
import { AttachedFiles } from "../knowledge/attached-files";
import { liveValues } from "./live-values";
import { fileIdsIn, functionsIn, nameOf, rowsOf, type DocumentValues } from "./document";

interface Writing {
  readonly values: DocumentValues;
  /** New secrets of functions. */
  readonly secrets?: SecretsBySlot;
  readonly note: string | null | undefined;
  /** The version that the assistant is at another service. */
  readonly version?: KeptVersion;
  /** Time of the last change. Default: now. */
  readonly updatedAt?: Date;
}

/**
 * Locks an assistant against changes until the end of the transaction, and forgets what was read of it before.
 * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY
 */
export async function lockDocument(scope: Scope, assistantId: string): Promise<void> {
  await scope.of(Assistants).checkOwn(assistantId);
  await scope.of(VersionKeeper).lock(assistantId);
  await scope.of(VersionKeeper).begin(assistantId);
  scope.forget();
}

/**
 * Writes values of a document to an assistant, and stores a version if anything differs. Runs in a transaction that has
 * locked the assistant with `lockDocument`.
 * @returns whether anything differs
 */
export async function writeDocument(
  scope: Scope,
  assistantId: string,
  { values, secrets: given = {}, note, version, updatedAt = currentDate() }: Writing,
): Promise<boolean> {
  const live = await liveValues(scope, assistantId);
  const current = await scope.of(SecretSlots).current(assistantId);
  const secrets = { ...current, ...given };
  const isNew = (slot: string) => secrets[slot] !== current[slot];
  const rotated = functionsIn(values)
    .filter(([kind, text]) => storedSlotsIn(kind, text).some(isNew))
    .map(([kind]) => `${kind}.functions`);
  const changed = Object.entries(values).filter(
    ([name, value]) => rotated.includes(name) || !isDeepStrictEqual(value, live[name]),
  );
  const written = Object.fromEntries(changed);
  for (const [kind, asking] of functionsIn(written)) {
    const name = nameOf(kind, "functions");
    const before = { functions: live[name] as string, secrets: current };
    const functions = withSecrets(kind, withClearRequests(scope, kind, asking, before, given), secrets);
    written[name] = functions;
    await scope.of(SecretSlots).keepRemoved(assistantId, kind, functions);
  }
  const { assistant, configurations } = rowsOf(written);
  if (Object.keys(assistant).length > 0)
    await scope
      .table("assistants")
      .where({ id: assistantId })
      .update(encoded({ ...assistant, updatedAt }));
  for (const [kind, row] of configurations)
    await scope
      .table(CONFIGURATIONS[kind])
      .where({ assistantId })
      .update(encoded({ ...row, updatedAt }));
  const fileIds = fileIdsIn(written);
  if (fileIds) await attachAll(scope, assistantId, fileIds);
  await scope.of(VersionKeeper).record(assistantId, note, version);
  scope.forget();
  return changed.length > 0;
}

/** Tells the caller that a change had no effect. */
export const warnOfNoChange = (scope: Scope): void =>
  scope.warn("Nothing differs from the current version: no version was made, and no note stored.");

async function attachAll(scope: Scope, assistantId: string, fileIds: readonly string[]): Promise<void> {
  const lost = await scope.of(AttachedFiles).replace(assistantId, fileIds);
  if (lost === 0) return;
  const [have, are] = lost === 1 ? ["has", "is"] : ["have", "are"];
  scope.warn(
    `fileIds: ${counted(lost, "file")} of the version ${have} been deleted since, and ${are} left out.`,
  );
}
