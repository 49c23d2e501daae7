import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { CONFIGURATIONS } from "../configurations/configurations";
import { SPOKEN_KINDS } from "../history/function-secrets";
import { split } from "../knowledge/split";
import { readContents } from "./contents";
import { draftsInUse, versionsInUse } from "./versions-in-use";

/** Stores the passages of an assistant's resources in all versions in use, because vectors refer to stored passages. */
export async function storeResources(scope: Scope, assistantId: string): Promise<void> {
  await scope.transaction(async (scope) => {
    if (!(await scope.tryLock(`resources/${assistantId}`))) return; // another job does the same
    const texts = new Set(
      [...(await resourcesOf(scope, assistantId))].flatMap((resources) => split(resources)),
    );
    const stored = await scope.table("passages").select("id", "content").where({ assistantId });
    const stale = stored.filter(({ content }) => !texts.has(content)).map(({ id }) => id);
    if (stale.length > 0) await scope.table("passages").whereIn("id", stale).delete();
    const known = new Set(stored.map(({ content }) => content));
    const missing = [...texts].filter((text) => !known.has(text));
    const rows = missing.map((content, ordinal) => ({ id: newId(), assistantId, ordinal, content }));
    await scope.insertAll("passages", rows);
  });
}

/** The texts of resources, each once. */
async function resourcesOf(scope: Scope, assistantId: string): Promise<Set<string>> {
  const texts = new Set<string>();
  for (const kind of SPOKEN_KINDS) {
    const rows = await scope.table(CONFIGURATIONS[kind]).select("resources").where({ assistantId });
    for (const { resources } of rows) texts.add(resources);
  }
  const numbers = await versionsInUse(scope, assistantId);
  const versions = await readContents(
    scope,
    numbers.map((number) => ({ assistantId, number })),
  );
  for (const values of [...versions, ...(await draftsInUse(scope, assistantId))])
    for (const kind of SPOKEN_KINDS) {
      const resources = values?.[`${kind}.resources`];
      if (typeof resources === "string") texts.add(resources);
    }
  return texts;
}
