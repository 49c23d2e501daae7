import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { useEffect } from "react";
import { learned, NOTHING_CARRIED, withIds, type Carried } from "./carried-ids";
import { forThisTab } from "./session-storage";

const ENTRY = "ids";
const LEARNED = "parley-ids-learned";

const carried = (): Carried => JSON.parse(forThisTab.getItem(ENTRY) ?? "null") ?? NOTHING_CARRIED;
const keep = (ids: Carried) => forThisTab.setItem(ENTRY, JSON.stringify(ids));

/** Remembers the ids in an answer, for the variables of other tabs. */
export function learn(data: unknown): void {
  keep(learned(carried(), data));
  dispatchEvent(new Event(LEARNED));
}

/** Fills known ids into the variables of the active tab: when it is opened, and after an answer. */
export function FillIds(): null {
  const editor = useGraphiQL((state) => state.variableEditor);
  const query = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.query ?? "");
  const activeTab = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id);
  const { updateActiveTabValues } = useGraphiQLActions();

  useEffect(() => {
    const fill = () => {
      const found = editor && withIds(carried(), query, editor.getValue());
      if (!found) return;
      keep(found.carried);
      editor.setValue(found.variables);
      updateActiveTabValues({ variables: found.variables });
    };
    fill();
    addEventListener(LEARNED, fill);
    return () => removeEventListener(LEARNED, fill);
  }, [editor, query, activeTab, updateActiveTabValues]);

  return null;
}
