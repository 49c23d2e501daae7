import { useGraphiQL } from "@graphiql/react";
import { useEffect } from "react";

/** Wraps long lines in all editors, which are narrow on phones. */
export function WrapLines(): null {
  const query = useGraphiQL((state) => state.queryEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  const headers = useGraphiQL((state) => state.headerEditor);
  const response = useGraphiQL((state) => state.responseEditor);

  useEffect(() => {
    for (const editor of [query, variables, headers, response]) editor?.updateOptions({ wordWrap: "on" });
  }, [query, variables, headers, response]);

  return null;
}
