import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import { tell, warningsOfChange } from "../assistants/update-configuration";
import { warningsOfAll, type ConfigurationWarning } from "../assistants/warnings";
import { CONFIGURATIONS, isOfRag, type ConfigurationKind } from "../configurations/columns";
import type {
  ChatConfiguration,
  SmsConfiguration,
  VoiceConfiguration,
} from "../configurations/configurations";
import { warnOfUnusableNames } from "../configurations/variable-names";
import { isSpoken } from "../history/function-secrets";
import type { Document, PartialDocument } from "./document";

const KINDS = Object.keys(CONFIGURATIONS) as ConfigurationKind[]; // the keys of the constant

/**
 * Warns the caller about values of a change that are allowed but do not work.
 * @param document the whole one after the change
 */
export async function warnOfChanges(scope: Scope, input: PartialDocument, document: Document): Promise<void> {
  warnOfUnusableNames(scope, input.variables);
  const hasFiles = () => document.fileIds.length > 0;
  const warnings: ConfigurationWarning[] = [];
  for (const kind of KINDS) {
    const changes = { ...input[kind], ...(isSpoken(kind) && input.rag?.[kind]) };
    const whole = configurationIn(document, kind);
    const found = await warningsOfChange(scope, kind, changes, { whole, hasFiles });
    warnings.push(...found.map((warning) => ({ ...warning, path: placeOf(kind, warning.path) })));
  }
  tell(scope, warnings);
}

/** Reports problems in the configurations of a document. */
export const documentWarnings = (scope: Scope, document: Document): Promise<ConfigurationWarning[]> =>
  warningsOfAll(scope, {
    voice: configurationIn(document, "voice") as VoiceConfiguration, // a document has the values of all columns
    sms: configurationIn(document, "sms") as SmsConfiguration,
    chat: configurationIn(document, "chat") as ChatConfiguration,
    theme: document.theme.theme as JsonObject,
    variables: document.variables,
    hasFiles: document.fileIds.length > 0,
  });

const configurationIn = (document: Document, kind: ConfigurationKind): object => ({
  ...document[kind],
  ...(isSpoken(kind) && document.rag[kind]),
});

/** The path in a document of a field of a configuration. */
const placeOf = (kind: ConfigurationKind, path: string): string =>
  isOfRag(path) ? `rag.${kind}.${path}` : `${kind}.${path}`;
