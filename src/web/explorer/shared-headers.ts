import { useGraphiQL } from "@graphiql/react";
import { useEffect, useRef } from "react";

/** GraphiQL keeps headers for each tab by itself. A key is put in once: what was typed last follows to every tab. */
export function SharedHeaders(): null {
  const editor = useGraphiQL((state) => state.headerEditor);
  const activeTab = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id);
  const typed = useRef<string>(undefined);

  useEffect(() => {
    if (!editor) return;
    typed.current ??= editor.getValue();
    const listening = editor.onDidChangeModelContent((change) => {
      // A flush is GraphiQL filling the editor for another tab, not the user.
      if (!change.isFlush) typed.current = editor.getValue();
    });
    return () => listening.dispose();
  }, [editor]);

  useEffect(() => {
    if (!editor || typed.current === undefined) return;
    if (editor.getValue() !== typed.current) editor.setValue(typed.current);
  }, [editor, activeTab]);

  return null;
}
