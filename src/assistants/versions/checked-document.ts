import type { Scope } from "../../platform/database/scope";
import { failAt, invalid, notFound } from "../../platform/errors";
import { isReadable } from "../../platform/ports/document-reader";
import { originsOf } from "../configurations/origins";
import { Files } from "../files/files";
import { secretsIn, type SecretsBySlot } from "../history/function-secrets";
import { FilePassages } from "../knowledge/file-passages";
import {
  functionsIn,
  valuesOf,
  withoutSecretsIn,
  type DocumentValues,
  type PartialDocument,
} from "./document";

export interface CheckedDocument {
  readonly values: DocumentValues;
  readonly secrets: SecretsBySlot;
}

/**
 * The values of an input that an assistant can have, and the secrets of its functions.
 * @throws FILE_NOT_FOUND, BAD_USER_INPUT
 */
export async function checkedDocument(
  scope: Scope,
  { allowedOrigins, fileIds, ...input }: PartialDocument,
): Promise<CheckedDocument> {
  for (const [index, id] of (fileIds ?? []).entries()) await checkFile(scope, id, `fileIds.${index}`);
  const origins = allowedOrigins && originsOf(allowedOrigins, "allowedOrigins");
  const ids = fileIds && [...new Set(fileIds)].sort();
  const values = valuesOf({ ...input, allowedOrigins: origins, fileIds: ids });
  const functions = functionsIn(values);
  return {
    values: withoutSecretsIn(values),
    secrets: Object.assign({}, ...functions.map(([kind, text]) => secretsIn(kind, text))) as SecretsBySlot,
  };
}

async function checkFile(scope: Scope, id: string, path: string): Promise<void> {
  if (!(await scope.of(FilePassages).isReachable(id))) failAt(path, notFound("File", id));
  const { detectedType } = await scope
    .of(Files)
    .byId(id)
    .catch((error) => failAt(path, error));
  if (!isReadable(detectedType))
    throw invalid([{ path, message: `is a file of type ${detectedType}, which assistants cannot read` }]);
}
