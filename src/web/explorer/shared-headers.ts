import { useGraphiQL } from "@graphiql/react";
import { useEffect, useRef } from "react";

/** Copies the last edited headers to every tab, so that a key is entered once. GraphiQL keeps them per tab. */
export function SharedHeaders(): null {
  const editor = useGraphiQL((state) => state.headerEditor);
  const activeTab = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id);
  const typed = useRef<string>(undefined);

  useEffect(() => {
    if (!editor) return;
    typed.current ??= editor.getValue();
    const listening = editor.onDidChangeModelContent((change) => {
      // A flush comes from GraphiQL, which fills the editor for another tab, not from the user.
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
