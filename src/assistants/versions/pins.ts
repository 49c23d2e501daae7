import type { SecretsBySlot } from "../history/function-secrets";
import type { DocumentValues } from "./document";

/** A draft as it was when a conversation with it began. */
export interface DraftCopy {
  readonly content: DocumentValues;
  readonly secrets: SecretsBySlot;
}

/** What a conversation runs to its end: a version of an assistant, or a draft that is based on it. */
export interface Pin {
  readonly number: number;
  readonly draft?: DraftCopy;
  /** Whether a new conversation has asked for a version that is not the current one. */
  readonly isFormer?: boolean;
}

/** Columns of a chat that say what it runs. */
export interface PinColumns {
  readonly id: string;
  readonly assistantId: string;
  /** Version of the assistant; null if the chat follows the assistant, because an older server began it. */
  readonly assistantVersion: number | null;
  /** Whether it runs a copy of a draft that is based on this version. */
  readonly runsDraft: boolean;
  /** Versions of the assistants of its workflow, by their ids; null without a workflow. */
  readonly speakerVersions: Readonly<Record<string, number>> | null;
}

/** Number of the version that a chat runs of one of its assistants; null if it follows the assistant. */
export function versionIn(
  { assistantId, assistantVersion, speakerVersions }: Omit<PinColumns, "id" | "runsDraft">,
  id = assistantId,
): number | null {
  if (speakerVersions && Object.hasOwn(speakerVersions, id)) return speakerVersions[id]!;
  return id === assistantId ? assistantVersion : null;
}
