import { useGraphiQL, useGraphiQLActions, useMonaco } from "@graphiql/react";
import { useEffect } from "react";

/** Monaco's themes by color scheme. They replace GraphiQL's, whose comments and numbers have too little contrast. */
export const EDITOR_THEMES = { light: "parley-light", dark: "parley-dark" };

/** Surfaces that are painted over the editor. */
const SURFACES = ["editorHoverWidget", "editorSuggestWidget", "editorWidget", "menu", "quickInput"];

const themeOf = (base: "vs" | "vs-dark", surface: string, lineNumber: string, tokens: object) => ({
  base,
  inherit: true,
  rules: Object.entries(tokens).map(([token, foreground]) => ({ token, foreground })),
  colors: {
    "editor.background": "#ffffff00",
    "scrollbar.shadow": "#ffffff00",
    "editorLineNumber.foreground": lineNumber,
    ...Object.fromEntries(SURFACES.map((name) => [`${name}.background`, surface])),
  },
});

const LIGHT = themeOf("vs", "#ffffff", "#1c6a85", {
  "argument.identifier.gql": "#5b57c7",
  comment: "#0a6b0a",
  number: "#076b45",
});
const DARK = themeOf("vs-dark", "#212a3b", "#a3aab8", {
  "argument.identifier.gql": "#9c97ff",
  comment: "#8fb97c",
});

/** Defines the themes, and follows the system's color scheme; GraphiQL reads it only when it starts. */
export function EditorColors(): null {
  const monaco = useMonaco((state) => state.monaco);
  const theme = useGraphiQL((state) => state.theme);
  const { setTheme } = useGraphiQLActions();

  useEffect(() => {
    monaco?.editor.defineTheme(EDITOR_THEMES.light, LIGHT);
    monaco?.editor.defineTheme(EDITOR_THEMES.dark, DARK);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => setTheme(theme);
    follow();
    dark.addEventListener("change", follow);
    return () => dark.removeEventListener("change", follow);
  }, [monaco, theme, setTheme]);

  return null;
}
