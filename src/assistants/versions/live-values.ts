import type { Scope } from "../../platform/database/scope";
import { Assistants } from "../assistants/assistants";
import { CONFIGURATIONS, Configurations, type ConfigurationKind } from "../configurations/configurations";
import { AttachedFiles } from "../knowledge/attached-files";
import { valuesOfConfiguration, withoutSecretsIn, type DocumentValues } from "./document";

/** The values of an assistant or template as it is now. */
export async function liveValues(scope: Scope, assistantId: string): Promise<DocumentValues> {
  const assistant = await scope.of(Assistants).byIdOrTemplate(assistantId);
  const { name, description, variables } = assistant;
  const kinds = Object.keys(CONFIGURATIONS) as ConfigurationKind[]; // the keys of the constant
  const rows = await Promise.all(
    kinds.map(async (kind) =>
      valuesOfConfiguration(kind, await scope.of(Configurations).stored(kind, assistant)),
    ),
  );
  const files = assistant.template ? [] : await scope.of(AttachedFiles).of(assistantId);
  const values = Object.fromEntries(
    [{ name, description, variables }, ...rows].flatMap((row) => Object.entries(row)),
  );
  return { ...withoutSecretsIn(values), fileIds: files.map(({ id }) => id).sort() };
}
